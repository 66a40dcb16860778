/** A column that is sealed with DATA_KEY: what sealing it again needs to know. Its feature describes it. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The primary key. */
  readonly id: string
  readonly idType: 'bigint' | 'uuid'
  readonly purpose: string
  /** What the data is bound to, as SQL. */
  readonly context: string
  /** Rows of a batch. */
  readonly batchSize: number
}

/** Of short values. */
export const sealedBatchSize = 200
