import { ask } from '../../sdk/client/ask.js'

/** Pages are served by the service they ask. */
const service = { baseUrl: location.origin }

/** Asks the service; throws TippingError with its code. `bearer` only ever leaves in the Authorization header. */
export function get<Answer>(path: string, bearer?: string, signal?: AbortSignal): Promise<Answer> {
  return ask(service, 'GET', path, { ...(bearer !== undefined && { bearer }), signal })
}

/** The same with a JSON body. */
export function post<Answer>(path: string, body: unknown, bearer?: string): Promise<Answer> {
  return ask(service, 'POST', path, { body, ...(bearer !== undefined && { bearer }) })
}
