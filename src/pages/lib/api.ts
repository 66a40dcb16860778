import { requestJson } from '../../sdk/client/request.js'

/** A page calls the service that serves it. */
const service = { baseUrl: location.origin }

/** Throws TippingError with the service's code. `bearer` is sent in the Authorization header only. */
export function get<Answer>(path: string, bearer?: string, signal?: AbortSignal): Promise<Answer> {
  return requestJson(service, 'GET', path, { ...(bearer !== undefined && { bearer }), signal })
}

export function post<Answer>(path: string, body: unknown, bearer?: string): Promise<Answer> {
  return requestJson(service, 'POST', path, { body, ...(bearer !== undefined && { bearer }) })
}
