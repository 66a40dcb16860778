import type { Call, Parameter, Schema } from './read-openapi.js'
import { type FieldNote, fieldNotes } from './texts.js'

/** One field of a request or an answer. */
interface Field {
  /** Such as `user.id` or `events[].sender`. */
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly rule: string
  /** JSON of an example value; undefined for an object. */
  readonly example: string | undefined
}

/** `>`: a field of the request. `<`: a field of the answer. */
export type Direction = '>' | '<'

/** A field of a call. `name` is its full name, such as `events[].sender`. */
interface Place {
  readonly call: Call
  readonly direction: Direction
  readonly name: string
}

/** The note about a field for this call only. */
function callNote({ call, direction, name }: Place): FieldNote {
  return fieldNotes.get(`${call.key} ${direction} ${name}`) ?? {}
}

/** The note about a field: the call's own note wins, then the note for the full name, then the one for its last parts. */
export function noteOf(place: Place): FieldNote {
  const names = place.name.split('.')
  const endings = names.map((_, from) => fieldNotes.get(names.slice(from).join('.')) ?? {})
  return Object.assign({}, ...endings.reverse(), callNote(place))
}

/** The parameters of a call as fields. */
export function parameterFields(call: Call, parameters: readonly Parameter[]): Field[] {
  return parameters.map(({ name, required, schema }) =>
    fieldOf({ call, direction: '>', name }, schema, required),
  )
}

/** Every field of a body. The fields of an object follow it. */
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
  // A field that several kinds have is described once.
  return [
    ...new Map([...own, ...variants].toReversed().map((field) => [field.name, field])).values(),
  ].toReversed()
}

/** The schema of an object, or of the objects in a list, which may be of several kinds. */
function schemaInside(schema: Schema): Schema | undefined {
  const inside = schema.items ?? schema
  return inside.properties === undefined && schema.items?.anyOf === undefined ? undefined : inside
}

function fieldOf(place: Place, schema: Schema, required: boolean): Field {
  const { example } = noteOf(place)
  // A constant has its value in the rule, and an object has its own fields: neither needs an example.
  const leaf = schemaInside(schema) === undefined && schema.const === undefined
  return {
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

/** A field's meaning and limits. The meaning comes from the call's note, else from the schema, else from the name's note. */
function ruleOf(place: Place, schema: Schema): string {
  const meaning = callNote(place).note ?? schema.description ?? noteOf(place).note
  const sentences = [sentence(meaning), ...limitsOf(schema, meaning)]
  return sentences.filter((part) => part !== '').join(' ')
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

/** An example value of a schema. Undefined: left out of the example. */
export function exampleOf(call: Call, direction: Direction, schema: Schema, name = ''): unknown {
  const note = noteOf({ call, direction, name })
  if (note.omit === true) return undefined
  if (schema.const !== undefined) return schema.const
  if (note.example !== undefined) return note.example
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
