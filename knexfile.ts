import type { Knex } from 'knex'
import { loadDatabaseUrl } from './src/platform/config/config.js'
import { migrationSource } from './src/platform/database/migrate.js'

const config: Knex.Config = { client: 'pg', connection: loadDatabaseUrl(), migrations: { migrationSource } }

export default config
