import { DBError, Model, QueryBuilder, type RawBuilder, raw, snakeCaseMappers } from 'objection'

/** Throws the driver's errors: Objection's own have no SQLSTATE, and carry values of rows into the log. */
class DriverErrors extends QueryBuilder<Model, unknown> {
  override async execute(): Promise<unknown> {
    try {
      return await super.execute()
    } catch (error) {
      throw error instanceof DBError ? error.nativeError : error
    }
  }
}

/**
 * The base of every model (docs/decisions/0034). No model is bound to a knex: `User.query(trx)` names the pool or transaction it
 * runs on, and a query without one throws. Properties are camelCase; conditions name columns as SQL does
 * (`where({ user_id: userId })`). Types are those of the pool: a timestamp is a Date, an int8 a bigint, a numeric text.
 */
export class BaseModel extends Model {
  static override QueryBuilder = DriverErrors as typeof QueryBuilder
  static override columnNameMappers = snakeCaseMappers()
  /** `findOne` and `first` end at the first row. */
  static override useLimitInFirst = true
}

/** The time in the database, where all times come from. */
export const databaseTime: RawBuilder = raw('clock_timestamp()')

/** The time in a column, or now if it has none: for what happens once. */
export function firstTime(column: string): RawBuilder {
  return raw('coalesce(??, clock_timestamp())', column)
}

/** The seconds since the time in a column, to be selected as `name`. */
export function ageOf(column: string, name: string): RawBuilder {
  return raw('extract(epoch from clock_timestamp() - ??)::float8 as ??', [column, name])
}
