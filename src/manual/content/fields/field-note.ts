/** A field's meaning beyond its schema, and a realistic example. */
export interface FieldNote {
  readonly note?: string
  readonly example?: unknown
  /** Left out of the example body, because it does not fit the other fields there. */
  readonly omit?: boolean
}

/** Keyed as `fieldGuide` says. */
export type FieldNotes = Readonly<Record<string, FieldNote>>
