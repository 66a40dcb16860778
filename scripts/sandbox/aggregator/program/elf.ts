import type { MachineCode } from './assembler.js'

// Field values of the ELF specification and of the machine (EM_BPF) that Solana's loader accepts.
const headerBytes = 64
const programHeaderBytes = 56
const sectionHeaderBytes = 64
const textAt = headerBytes + 3 * programHeaderBytes
const typeSharedObject = 3
const machineBpf = 247
const segment = { load: 1, dynamic: 2 } as const
const readable = 4
const readableExecutable = 5
const section = { none: 0, bits: 1, strings: 3, dynamic: 6, relocations: 9, symbols: 11 } as const
const allocated = 2
const allocatedExecutable = 6
const tag = { strings: 5, symbols: 6, stringBytes: 10, symbolEntry: 11, relocations: 17 } as const
const tagRelocationBytes = 18
const tagRelocationEntryBytes = 19
const symbolBytes = 24
const relocationBytes = 16
const globalSymbol = 0x10
/** R_BPF_64_32: the loader writes the hash of the symbol's name into the call. */
const relocateCall = 10n

/** A named section of the file. */
interface Section {
  readonly name: string
  readonly type: number
  readonly flags: number
  readonly bytes: Buffer
  /** Index of the section it refers to, and the bytes of one entry. */
  readonly link: number
  readonly entry: number
}

/**
 * Builds the smallest shared object that Solana's loader accepts: the code, one imported syscall and a relocation for every
 * call of it.
 */
export function linkProgram({ text, syscalls }: MachineCode, syscall: string): Buffer {
  const symbols = Buffer.alloc(2 * symbolBytes)
  symbols.writeUInt32LE(1, symbolBytes)
  symbols.writeUInt8(globalSymbol, symbolBytes + 4)
  const strings = padded(Buffer.from(`\0${syscall}\0`))
  const relocations = Buffer.concat(
    syscalls.map((at) => words(BigInt(textAt + at), (1n << 32n) | relocateCall)),
  )
  const symbolsAt = textAt + text.length
  const stringsAt = symbolsAt + symbols.length
  const relocationsAt = stringsAt + strings.length
  const dynamic = words(
    ...[tag.relocations, relocationsAt, tagRelocationBytes, relocations.length],
    ...[tagRelocationEntryBytes, relocationBytes, tag.symbols, symbolsAt, tag.symbolEntry, symbolBytes],
    ...[tag.strings, stringsAt, tag.stringBytes, strings.length, 0, 0],
  )
  return file([
    { name: '.text', type: section.bits, flags: allocatedExecutable, bytes: text, link: 0, entry: 0 },
    { name: '.dynsym', type: section.symbols, flags: allocated, bytes: symbols, link: 3, entry: symbolBytes },
    { name: '.dynstr', type: section.strings, flags: allocated, bytes: strings, link: 0, entry: 0 },
    {
      name: '.rel.dyn',
      type: section.relocations,
      flags: allocated,
      bytes: relocations,
      link: 2,
      entry: relocationBytes,
    },
    { name: '.dynamic', type: section.dynamic, flags: allocated, bytes: dynamic, link: 3, entry: 16 },
  ])
}

function file(loaded: readonly Section[]): Buffer {
  const names = padded(Buffer.from(`\0${[...loaded.map(({ name }) => name), '.shstrtab'].join('\0')}\0`))
  const all = [
    ...loaded,
    { name: '.shstrtab', type: section.strings, flags: 0, bytes: names, link: 0, entry: 0 },
  ]
  const offsets = all.map((_, index) => textAt + total(all.slice(0, index)))
  const [text = Buffer.alloc(0), ...rest] = loaded.map(({ bytes }) => bytes)
  const restAt = textAt + text.length
  const dynamic = rest.at(-1)?.length ?? 0
  const headers = all.map((one, index) => sectionHeader(one, names, offsets[index] ?? 0))
  return Buffer.concat([
    fileHeader(textAt + total(all), all.length + 1),
    programHeader(segment.load, readableExecutable, textAt, text.length),
    programHeader(segment.load, readable, restAt, total(loaded) - text.length),
    programHeader(segment.dynamic, readable, textAt + total(loaded) - dynamic, dynamic),
    ...all.map(({ bytes }) => bytes),
    Buffer.alloc(sectionHeaderBytes),
    ...headers,
  ])
}

/** `sections`: the number of sections, with the empty first one. The last one holds the names. */
function fileHeader(sectionHeadersAt: number, sections: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(header)
  header.writeUInt16LE(typeSharedObject, 16)
  header.writeUInt16LE(machineBpf, 18)
  header.writeUInt32LE(1, 20)
  words(textAt, headerBytes, sectionHeadersAt).copy(header, 24)
  const sizes = [headerBytes, programHeaderBytes, 3, sectionHeaderBytes, sections, sections - 1]
  for (const [index, size] of sizes.entries()) header.writeUInt16LE(size, 52 + 2 * index)
  return header
}

function programHeader(type: number, flags: number, at: number, bytes: number): Buffer {
  const header = Buffer.alloc(programHeaderBytes)
  header.writeUInt32LE(type, 0)
  header.writeUInt32LE(flags, 4)
  words(at, at, at, bytes, bytes, 8).copy(header, 8)
  return header
}

function sectionHeader(
  { name, type, flags, bytes, link, entry }: Section,
  names: Buffer,
  at: number,
): Buffer {
  const header = Buffer.alloc(sectionHeaderBytes)
  header.writeUInt32LE(names.indexOf(`${name}\0`), 0)
  header.writeUInt32LE(type, 4)
  words(flags, flags & allocated ? at : 0, at, bytes.length).copy(header, 8)
  header.writeUInt32LE(link, 40)
  words(8, entry).copy(header, 48)
  return header
}

function total(sections: readonly Section[]): number {
  return sections.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

function words(...values: (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * index)
  return bytes
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)])
}
