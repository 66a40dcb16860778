/** The same texts in another language. A missing one does not compile. */
export type Catalogue<English> = {
  readonly [Name in keyof English]: English[Name] extends string
    ? string
    : English[Name] extends (...values: infer Values) => string
      ? (...values: Values) => string
      : Catalogue<English[Name]>
}
