/** A plugin of typedoc's: the reference shows the types of `@throws {TypeError}`, which typedoc sets aside. */
export function load({ converter }) {
  converter.on('resolveBegin', ({ project }) => {
    for (const { comment } of Object.values(project.reflections)) {
      for (const tag of comment?.blockTags ?? []) {
        if (tag.typeAnnotation === undefined) continue
        const type = tag.typeAnnotation.replace(/^\{|\}$/g, '')
        tag.content.unshift({ kind: 'code', text: `\`${type}\`` }, { kind: 'text', text: ' ' })
        delete tag.typeAnnotation
      }
    }
  })
}
