import DefaultTheme from 'vitepress/theme'
import { SiteDiagram } from './diagram.js'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('SiteDiagram', SiteDiagram)
  },
}
