import type { Field, Words } from '../blocks.js'
import { type FieldNote, fieldGuide } from '../content/field-guide.js'
import type { Call, Parameter, Schema } from '../read-openapi.js'

/** Whether fields are asked of the caller or answered to it. */
export type Direction = '>' | '<'

/** Where a field stands: the call and the direction it goes, and its full name, as in `events[].sender`. */
interface Place {
  readonly call: Call
  readonly direction: Direction
  readonly name: string
}

/** What is noted about a field for its own call. */
function noteHere({ call, direction, name }: Place): FieldNote {
  return fieldGuide[`${call.key} ${direction} ${name}`] ?? {}
}

/** What is noted about a field: its own call's note wins over the field's, and that over its last names'. */
export function noteOf(place: Place): FieldNote {
  const names = place.name.split('.')
  const endings = names.map((_, from) => fieldGuide[names.slice(from).join('.')] ?? {})
  return Object.assign({}, ...endings.reverse(), noteHere(place))
}

/** The parameters of a call as fields. */
export function parameterFields(call: Call, parameters: readonly Parameter[]): Field[] {
  return parameters.map(({ name, required, schema }) =>
    fieldOf({ call, direction: '>', name }, schema, required),
  )
}

/** Every field of a body, deeper ones after the one that holds them. */
export function bodyFields(call: Call, direction: Direction, schema: Schema, within = ''): Field[] {
  const variants = schema.anyOf?.flatMap((variant) => bodyFields(call, direction, variant, within)) ?? []
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const name = `${within}${key}`
    const field = fieldOf({ call, direction, name }, property, schema.required?.includes(key) === true)
    const inner = schemaInside(property)
    if (inner === undefined) return [field]
    const deeper = bodyFields(call, direction, inner, `${name}${property.items ? '[]' : ''}.`)
    return [field, ...deeper]
  })
  return [...own, ...variants]
}

/** The object a field is, or is a list of. */
function schemaInside(schema: Schema): Schema | undefined {
  const inside = schema.items ?? schema
  return inside.properties === undefined ? undefined : inside
}

function fieldOf(place: Place, schema: Schema, required: boolean): Field {
  const { example } = noteOf(place)
  // A constant is told by its rule, and an object by its fields.
  const leaf = schemaInside(schema) === undefined && schema.const === undefined
  const way = place.direction === '>' ? '' : 'answer.'
  return {
    id: `${place.call.id}.${way}${place.name.replaceAll('[]', '')}`,
    name: place.name,
    type: typeOf(schema),
    required,
    rule: ruleOf(place, schema),
    example: leaf && example !== undefined ? JSON.stringify(example) : undefined,
  }
}

const formats: Readonly<Record<string, string>> = { 'date-time': 'ISO 8601', uuid: 'UUID' }

function typeOf(schema: Schema): string {
  const variants = schema.anyOf?.map(typeOf)
  if (variants !== undefined) return [...new Set(variants)].join(' or ')
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`
  const named = [schema.type ?? typeof schema.const].flat().join(' or ')
  return named === 'undefined' ? 'any' : named
}

/** What must hold for a field, and what it means: as noted for this call, else in the schema, else for its name. */
function ruleOf(place: Place, schema: Schema): Words {
  const meaning = noteHere(place).note ?? schema.description ?? noteOf(place).note
  const told = [sentence(meaning), ...limitsOf(schema, meaning)]
  return told.filter((part) => part !== '').join(' ')
}

function sentence(description = ''): string {
  if (description === '') return ''
  return /[.!?]$/.test(description) ? description : `${description}.`
}

function limitsOf(schema: Schema, description: string | undefined): string[] {
  const inner = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema.items ?? schema
  const { enum: values, const: only, minLength: least = 0, maxLength, maximum } = inner
  const parts: string[] = []
  if (only !== undefined && only !== true) parts.push(`Always \`${String(only)}\`.`)
  if (values !== undefined) parts.push(`One of ${values.map((value) => `\`${String(value)}\``).join(', ')}.`)
  if (maxLength !== undefined && description?.includes('characters') !== true)
    parts.push(`${least} to ${maxLength} characters.`)
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) parts.push(`At most ${maximum}.`)
  const format = formats[inner.format ?? '']
  if (format !== undefined && description?.includes(format) !== true) parts.push(`${format}.`)
  if (schema.default !== undefined) parts.push(`Default \`${String(schema.default)}\`.`)
  return parts
}

/** A value as it is asked or answered. Undefined: examples leave it out. */
export function exampleOf(call: Call, direction: Direction, schema: Schema, name = ''): unknown {
  const note = noteOf({ call, direction, name })
  if (note.omit === true) return undefined
  if (note.example !== undefined) return note.example
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  const [variant] = schema.anyOf ?? []
  if (variant !== undefined) return exampleOf(call, direction, variant, name)
  if (schema.items !== undefined) return [exampleOf(call, direction, schema.items, `${name}[]`)]
  if (schema.properties === undefined) return undefined
  const inside = name === '' ? '' : `${name}.`
  const entries = Object.entries(schema.properties).map(([key, property]) => [
    key,
    exampleOf(call, direction, property, `${inside}${key}`),
  ])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}
