import { type Answer, answerCommand, type Command } from '../ops/support/command.js'

/**
 * A process that runs operators' commands one after the other, without the second that a new process needs to start.
 * `OperatorCommands` forks it.
 */
export interface CommandRequest {
  /** The built script. */
  readonly program: string
  readonly args: readonly string[]
}

process.on('message', (request: CommandRequest) => {
  void run(request).then((answer) => process.send?.(answer))
})

async function run({ program, args }: CommandRequest): Promise<Answer> {
  const { command } = (await import(program)) as { readonly command: Command<Record<string, never>> }
  return answerCommand(command, args)
}
