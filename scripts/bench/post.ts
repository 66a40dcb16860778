/** Posts JSON and returns the answer. Throws unless it is 200. */
export async function post(url: string, body: unknown, cookie = ''): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Record<string, unknown>
  if (response.status !== 200) throw new Error(`${url} answered ${response.status} ${JSON.stringify(answer)}`)
  return answer
}
