import type { World } from './servers/world.js'

/** How often this world's services have counted an alert. */
export async function countAlerts(
  { services }: { readonly services: Pick<World['services'], 'metrics'> },
  kind: string,
): Promise<number> {
  const { values } = await services.metrics.alerts.get()
  return values.find(({ labels }) => labels.kind === kind)?.value ?? 0
}

/** The kinds of the mails to an address, oldest first. */
export function mailKinds({ db }: Pick<World, 'db'>, recipient: string): Promise<string[]> {
  return db('emails').where({ recipient }).orderBy('created_at').pluck('kind')
}
