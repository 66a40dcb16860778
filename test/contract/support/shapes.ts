/** Predicates of the contract's field types. */
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const wallet = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

export type Shape = (value: unknown) => boolean

const isString: Shape = (value) => typeof value === 'string'
export const isText: Shape = (value) => typeof value === 'string' && value.length > 0
export const isNumber: Shape = (value) => typeof value === 'number' && Number.isFinite(value)
export const isBoolean: Shape = (value) => typeof value === 'boolean'
export const isNull: Shape = (value) => value === null
export const isTimestamp: Shape = (value) =>
  typeof value === 'string' && iso.test(value) && !Number.isNaN(Date.parse(value))
export const isUuid: Shape = (value) => typeof value === 'string' && uuid.test(value)
export const isWallet: Shape = (value) => typeof value === 'string' && wallet.test(value)
export const isMasked: Shape = (value) => typeof value === 'string' && /^\w+\.\.\.\w*$/.test(value)
export const isTextList: Shape = (value) => Array.isArray(value) && value.every(isString)
export const orNull =
  (shape: Shape): Shape =>
  (value) =>
    value === null || shape(value)
export const is =
  (expected: unknown): Shape =>
  (value) =>
    value === expected
export const matches =
  (pattern: RegExp): Shape =>
  (value) =>
    typeof value === 'string' && pattern.test(value)
export const isAbsent: Shape = (value) => value === undefined
