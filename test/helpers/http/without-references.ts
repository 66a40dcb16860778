/** Replaces each reference to a component of the document by the component: in the whole document, or in a part of it. */
export function withoutReferences<Part extends object>(document: object, part: Part): Part {
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve)
    if (typeof node !== 'object' || node === null) return node
    if ('$ref' in node) return resolve(componentOf(document, String(node.$ref)))
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]))
  }
  return resolve(part) as Part
}

function componentOf(document: object, reference: string): unknown {
  const names = reference.replace(/^#\//, '').split('/')
  const found = names.reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], document)
  if (found === undefined) throw new Error(`the document has no ${reference}`)
  return found
}
