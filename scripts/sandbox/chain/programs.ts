/** The owner of every plain wallet. */
export const systemProgram = '11111111111111111111111111111111'
/** The memo program and its first version. Both are in use. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
export const firstMemoProgram = 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'
