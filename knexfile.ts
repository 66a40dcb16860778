import type { Knex } from 'knex'
import { loadDatabaseUrl } from './src/platform/config/own-settings.js'
import { migrationRules, migrationSource } from './src/platform/database/migrations/migrate.js'

const config: Knex.Config = {
  client: 'pg',
  connection: loadDatabaseUrl(),
  migrations: { ...migrationRules, migrationSource },
}

export default config
