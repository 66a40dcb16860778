/** Replaces each reference to a component by the component. */
export function withoutReferences<Doc extends object>(document: Doc): Doc {
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve)
    if (typeof node !== 'object' || node === null) return node
    if ('$ref' in node) return resolve(componentOf(document, String(node.$ref)))
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]))
  }
  return resolve(document) as Doc
}

function componentOf(document: object, reference: string): unknown {
  const names = reference.replace(/^#\//, '').split('/')
  const found = names.reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], document)
  if (found === undefined) throw new Error(`the document has no ${reference}`)
  return found
}
