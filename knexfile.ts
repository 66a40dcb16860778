import type { Knex } from 'knex'
import { loadDatabase } from './src/platform/config/own-settings.js'
import { migrationRules, migrationSource } from './src/platform/database/migrations/migrate.js'

const config: Knex.Config = {
  client: 'pg',
  connection: loadDatabase().url,
  migrations: { ...migrationRules, migrationSource },
}

export default config
