import { readFileSync } from 'node:fs'
import { type Call, callsOf, type OpenApi, type Schema } from '../../src/manual/read-openapi.js'
import { callTexts } from '../../src/manual/texts.js'
import { keepDocument } from './keep-document.js'
import { openApiDocument } from './openapi-document.js'

// Writes the calls of the Python client from the OpenAPI document. Without --write it only says whether they are current.

const file = 'src/sdk/python/tipping.py'
/** What a backend calls, by operation id. */
const calls = [
  'createSdkSession',
  'listEvents',
  'listTipEvents',
  'createPaymentIntent',
  'recordTip',
  'createFiatIntent',
  'getFiatStatus',
  'getFiatRate',
  'createWebhook',
  'listWebhooks',
]

interface Field {
  readonly name: string
  readonly place: 'path' | 'query' | 'header' | 'body'
  readonly required: boolean
  readonly schema: Schema
}

const types: Readonly<Record<string, string>> = {
  string: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  object: 'dict',
  array: 'list',
}

/** A number in a query is text with a pattern. */
function typeOf({ type, pattern = '' }: Schema): string {
  const isNumber = /^\^(\(\?:)?(\\d|\[1-9\])/.test(pattern)
  if (isNumber) return pattern.includes('\\.') ? 'float' : 'int'
  return types[String(type)] ?? 'Any'
}

const snakeCase = (name: string): string =>
  name
    .replaceAll('-', '_')
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`)
    .toLowerCase()

const document = JSON.parse(await openApiDocument()) as OpenApi & {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

function resolved(schema: Schema & { readonly $ref?: string }): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return (name === undefined ? undefined : document.components.schemas[name]) ?? schema
}

function fieldsOf({ operation, body }: Call): Field[] {
  const { properties = {}, required = [] } = resolved(body ?? {})
  const inBody = Object.entries(properties).map(
    ([name, schema]): Field => ({ name, place: 'body', required: required.includes(name), schema }),
  )
  const others = (operation.parameters ?? []).map(
    ({ name, in: place, required: needed, schema }): Field => ({ name, place, required: needed, schema }),
  )
  return [...inBody, ...others]
    .map((field) => ({ ...field, schema: resolved(field.schema) }))
    .sort((one, other) => Number(other.required) - Number(one.required))
}

const operationIdOf = ({ key }: Call): string => callTexts.get(key)?.operationId ?? ''

function methodOf(call: Call): string {
  const { method, path, operation } = call
  const fields = fieldsOf(call)
  const taken = fields.map(({ name, required, schema }) => {
    const type = typeOf(schema)
    return `        ${snakeCase(name)}: ${required ? type : `${type} | None = None`},`
  })
  const about = fields.flatMap(({ name, schema: { description } }) =>
    description === undefined ? [] : [`        ${snakeCase(name)}: ${description.replaceAll('\\', '\\\\')}`],
  )
  const values = (place: Field['place']): string => {
    const pairs = fields.flatMap((field) =>
      field.place === place ? [`                "${field.name}": ${snakeCase(field.name)},`] : [],
    )
    const argument = place === 'header' ? 'headers' : place
    return pairs.length === 0 ? '' : `\n            ${argument}={\n${pairs.join('\n')}\n            },`
  }
  const credential = (['apiKey', 'session'] as const).find((name) =>
    operation.security.some((one) => name in one),
  )
  const presented =
    credential === undefined ? '' : `\n            "${credential === 'apiKey' ? 'key' : credential}",`
  return `
    def ${snakeCase(operationIdOf(call))}(
        self,${taken.length === 0 ? '' : `\n        *,\n${taken.join('\n')}`}
    ) -> dict[str, Any]:
        """${operation.summary}.${about.length === 0 ? '' : `\n\n${about.join('\n')}\n        `}"""
        return self._call(
            "${method}",
            "${path}",${presented}${values('query')}${values('body')}${values('header')}
        )
`
}

const methods = callsOf(document)
  .filter((call) => calls.includes(operationIdOf(call)))
  .map(methodOf)
if (methods.length !== calls.length)
  throw new Error('a call of the Python client is not in the OpenAPI document')
const generated = /(?<=: begin\n)[\s\S]*(?= {4}# Made from the OpenAPI document: end)/
keepDocument(
  file,
  readFileSync(file, 'utf8').replace(generated, () => `${methods.join('')}\n`),
)
process.exit()
