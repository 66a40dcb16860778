import type { ExecutionContext } from 'ava'
import { type ServedApp, serveApp } from './serve-app.js'

/** Starts one more app in this process, with settings of its own; closed after the test if not before. */
export async function startApp(
  t: ExecutionContext,
  env: Readonly<Record<string, string>>,
): Promise<ServedApp> {
  const app = await serveApp(env)
  t.teardown(app.close)
  return app
}
