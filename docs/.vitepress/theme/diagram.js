import script from '@mermaid-js/tiny/dist/mermaid.tiny.js?url'
import { useData } from 'vitepress'
import { defineComponent, h, onMounted, ref, useId, watch } from 'vue'

let loading

/** Mermaid is a script that sets a global variable, and no module. It is 3 MB: pages without diagrams do without. */
function mermaid() {
  loading ??= new Promise((resolve, reject) => {
    const element = document.createElement('script')
    element.onload = () => resolve(globalThis.mermaid)
    element.onerror = () => reject(new Error(`${script} cannot be loaded`))
    element.src = script
    document.head.append(element)
  })
  return loading
}

/** A diagram of mermaid's, drawn by the browser in the colours of the page. Until then, its source. */
export const SiteDiagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup(props) {
    const source = decodeURIComponent(props.code)
    const { isDark } = useData()
    const id = `diagram-${useId()}`
    const drawing = ref('')

    async function draw() {
      const { initialize, render } = await mermaid()
      initialize({ startOnLoad: false, theme: isDark.value ? 'dark' : 'neutral' })
      const { svg } = await render(id, source)
      drawing.value = svg
    }
    onMounted(draw)
    watch(isDark, draw)

    return () =>
      drawing.value === ''
        ? h('pre', { class: 'diagram' }, source)
        : h('div', { class: 'diagram', innerHTML: drawing.value })
  },
})
