import pg from 'pg'
import { withConnection } from '../dev/postgres/session.js'
import { roleOf, rolesSql } from './roles-sql.js'
import { roleKinds } from './table-rights.js'

/**
 * Makes the roles of the processes on a database of development or tests, and their rights. They get the password of the
 * URL's user, if it has one. The user must be allowed to make roles.
 */
export async function createRoles(databaseUrl: string): Promise<void> {
  const password = decodeURIComponent(new URL(databaseUrl).password)
  const passwords = roleKinds.map(
    (kind) => `alter role ${roleOf(kind)} password ${pg.escapeLiteral(password)};`,
  )
  await withConnection(databaseUrl, (client) =>
    client.query(rolesSql(password === '' ? '' : passwords.join('\n'))),
  )
}
