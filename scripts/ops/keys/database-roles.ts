import { roleOf, rolesSql } from '../../database/roles-sql.js'
import { roleKinds } from '../../database/table-rights.js'
import { defineCommand } from '../support/command.js'

/** Prints SQL that gives each kind of process a database role with the rights that it needs, and no others. */
const usage = `npm run ops -- keys roles > roles.sql

Prints SQL; it connects to nothing. Run it with psql as the owner of the tables, after each npm run migrate: it makes the roles
that are missing, gives each what it needs, and takes everything else from it. Then give each role a password, and each kind of
process the DATABASE_URL of its role. The owner stays the user of npm run migrate. Roles are optional: one DATABASE_URL for all
works as well. --json has the roles, and the SQL.`

const header = `-- Rights of each kind of process: npm run ops -- keys roles. Run it as the owner of the tables, with
-- psql -v ON_ERROR_STOP=1 -f, and again after each migration. Passwords: \\password ${roleOf('web')}, and so on.`

export const command = await defineCommand(import.meta, {
  usage,
  options: {},
  async run() {
    const sql = rolesSql()
    return { text: `${header}\n${sql.trimEnd()}`, json: { roles: roleKinds.map(roleOf), sql } }
  },
})
