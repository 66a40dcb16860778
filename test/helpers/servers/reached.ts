import { appendFileSync, writeFileSync } from 'node:fs'
import type Router from '@koa/router'
import type { App } from '../../../src/app.js'
import type { Metrics } from '../../../src/platform/monitoring/metrics.js'

/** A folder of the runner (scripts/test.ts), which compares what tests have reached with what there is. */
const folder = process.env['TEST_REACHED']

/** Every mounted route, as `GET /pay/:code`. */
export function mountedRoutes({ koa }: Pick<App, 'koa'>): string[] {
  const routers = koa.middleware.flatMap((one): Router[] =>
    'routers' in one ? (one.routers as Router[]) : 'router' in one ? [one.router as Router] : [],
  )
  return routers.flatMap(({ stack }) =>
    stack.flatMap(({ methods, path }) =>
      methods.filter((method) => method !== 'HEAD').map((method) => `${method} ${path}`),
    ),
  )
}

/** A test has called it with success. */
export function noteReached(names: Iterable<string>): void {
  if (folder !== undefined)
    appendFileSync(`${folder}/reached`, [...names].map((name) => `${name}\n`).join(''))
}

/** Notes the routes that this app has answered with success. */
export async function noteRoutes(app: Pick<App, 'koa'>, { requestSeconds }: Metrics): Promise<void> {
  if (folder === undefined) return
  writeFileSync(`${folder}/routes`, mountedRoutes(app).join('\n'))
  const { values } = await requestSeconds.get()
  const succeeded = values.filter(({ labels }) => Number(labels.status) < 400)
  noteReached(new Set(succeeded.map(({ labels }) => `${labels.method} ${labels.route}`)))
}
