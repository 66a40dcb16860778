import type { Json } from './operation.js'

/** Gives the schemas of bodies and answers names, so that generated clients have types with names: `WithdrawRequest`. */
export function withComponents(document: Json): Json {
  const schemas: Record<string, Json> = {}
  const nameOf = new Map<string, string>()
  const copy = structuredClone(document) as { paths: Record<string, Record<string, Json>>; components: Json }
  const move = (media: Json | undefined, name: string): void => {
    const schema = media?.['schema'] as Json | undefined
    if (media === undefined || schema === undefined || schema['type'] === 'string') return
    const json = JSON.stringify(schema)
    const known = nameOf.get(json) ?? name
    nameOf.set(json, known)
    schemas[known] = schema
    media['schema'] = { $ref: `#/components/schemas/${known}` }
  }
  for (const operation of Object.values(copy.paths).flatMap((methods) => Object.values(methods))) {
    const id = String(operation['operationId'])
    const name = `${id.charAt(0).toUpperCase()}${id.slice(1)}`
    const { requestBody, responses } = operation as unknown as Bodies
    move(requestBody?.content['application/json'], `${name}Request`)
    for (const [status, { content }] of Object.entries(responses))
      for (const media of Object.values(content))
        move(media, status === '200' ? `${name}Answer` : errorName(media, `${name}Error${status}`))
  }
  return { ...copy, components: { schemas, ...copy.components } }
}

/** An answer with a single error code is the same for every call, of those for wallets for each of them. */
function errorName({ schema }: Json, name: string): string {
  const { code, message } = (schema as ErrorSchema).properties ?? {}
  const [only = '', ...others] = code?.enum ?? []
  const pascal = only.replaceAll(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())
  return only === '' || others.length > 0 ? name : `${pascal}${message === undefined ? '' : 'Wallet'}Error`
}

interface ErrorSchema {
  readonly properties?: { readonly code?: { readonly enum?: readonly string[] }; readonly message?: Json }
}

interface Bodies {
  readonly requestBody?: { readonly content: Record<string, Json> }
  readonly responses: Record<string, { readonly content: Record<string, Json> }>
}
