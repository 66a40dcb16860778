/** A transaction's error as Solana's JSON-RPC writes it: a name, or an object such as `{InstructionError: [0, {Custom: 1}]}`. */
export type TransactionError = string | { readonly [kind: string]: unknown }

/**
 * The names of litesvm's numbered transaction errors, in order. litesvm declares them as `const enum`, which is an empty
 * object at run time: reading a name there gives `undefined`, which would look like success.
 */
export const transactionErrorNames: readonly string[] = words(`
  AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee
  InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee
  InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance
  AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount
  WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks
  AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData
  InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit
  WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded
  InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled
`)

/** The names of litesvm's numbered instruction errors, in order. */
export const instructionErrorNames: readonly string[] = words(`
  GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall
  InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized
  UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend
  ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex
  ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable
  AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError ExecutableDataModified
  ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth MissingAccount
  ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded
  PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile
  Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar
  IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded
  BuiltinProgramsMustConsumeComputeUnits BorshIoError
`)

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** The name of a numbered error. An unknown number is still an error. */
export function errorName(names: readonly string[], code: number): string {
  return names[code] ?? `Unknown${code}`
}

const messages = new Map([
  ['BlockhashNotFound', 'Blockhash not found'],
  ['AlreadyProcessed', 'This transaction has already been processed'],
  ['AccountNotFound', 'Attempt to debit an account but found no record of a prior credit.'],
])

/** The text that a validator writes after "Transaction simulation failed: ". */
export function errorMessage(error: TransactionError): string {
  if (typeof error === 'string') return messages.get(error) ?? error
  const instruction = error['InstructionError']
  if (!Array.isArray(instruction)) return JSON.stringify(error)
  const [index, cause] = instruction
  const custom = (cause as { Custom?: number }).Custom
  const text = custom === undefined ? String(cause) : `custom program error: 0x${custom.toString(16)}`
  return `Error processing Instruction ${index}: ${text}`
}
