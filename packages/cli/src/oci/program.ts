// A program of two system calls, written as machine code: enough for an image that can be run, without a compiler or a
// file of megabytes.

/** The architectures of a sample image, as named in OCI's `platform.architecture`. */
export type Architecture = "amd64" | "arm64";

const LOAD_ADDRESS = 0x400000;
const HEADER_SIZE_BYTES = 64 + 56; // the ELF header and one program header
const ELF_MACHINE = { amd64: 62, arm64: 183 } as const;

/**
 * Instructions for write(1, text, length) and exit(0), as 32-bit little-endian words or single bytes, followed by the
 * text itself.
 */
function amd64Code(length: number): Buffer {
  const code = Buffer.from(
    "b801000000" + // mov eax, 1 (write)
      "bf01000000" + // mov edi, 1
      "488d3510000000" + // lea rsi, [rip + 16]: the text behind the last instruction
      "ba00000000" + // mov edx, length (set below)
      "0f05" + // syscall
      "b83c000000" + // mov eax, 60 (exit)
      "31ff" + // xor edi, edi
      "0f05", // syscall
    "hex",
  );
  code.writeUInt32LE(length, 18);
  return code;
}

function arm64Code(length: number): Buffer {
  const instructions = 8;
  const move = (register: number, value: number): number => (0xd2800000 | (value << 5) | register) >>> 0; // movz x<register>, #value
  const supervisorCall = 0xd4000001; // svc #0
  const textFromSecond = (instructions - 1) * 4;
  const words = [
    move(0, 1),
    (0x10000000 | ((textFromSecond >> 2) << 5) | 1) >>> 0, // adr x1, text
    move(2, length),
    move(8, 64), // write
    supervisorCall,
    move(0, 0),
    move(8, 93), // exit
    supervisorCall,
  ];
  const code = Buffer.alloc(words.length * 4);
  words.forEach((word, index) => code.writeUInt32LE(word, index * 4));
  return code;
}

/**
 * A static Linux executable (ELF, 64 bit) for one architecture that prints `text` (at most 65,535 bytes) and exits 0.
 */
export function linuxProgram(architecture: Architecture, text: string): Buffer {
  const message = Buffer.from(text);
  const code = architecture === "amd64" ? amd64Code(message.length) : arm64Code(message.length);
  const size = HEADER_SIZE_BYTES + code.length + message.length;
  const header = Buffer.alloc(HEADER_SIZE_BYTES);
  header.write("\x7fELF\x02\x01\x01", "latin1"); // 64 bit, little-endian, ELF version 1
  header.writeUInt16LE(2, 16); // an executable
  header.writeUInt16LE(ELF_MACHINE[architecture], 18);
  header.writeUInt32LE(1, 20); // ELF version
  header.writeBigUInt64LE(BigInt(LOAD_ADDRESS + HEADER_SIZE_BYTES), 24); // where it starts
  header.writeBigUInt64LE(64n, 32); // where the program header lies
  header.writeUInt16LE(64, 52); // size of this header
  header.writeUInt16LE(56, 54); // size of a program header
  header.writeUInt16LE(1, 56); // number of program headers
  header.writeUInt32LE(1, 64); // a segment to load
  header.writeUInt32LE(5, 68); // readable and executable
  header.writeBigUInt64LE(BigInt(LOAD_ADDRESS), 80);
  header.writeBigUInt64LE(BigInt(LOAD_ADDRESS), 88);
  header.writeBigUInt64LE(BigInt(size), 96); // in the file
  header.writeBigUInt64LE(BigInt(size), 104); // in memory
  header.writeBigUInt64LE(0x1000n, 112); // alignment
  return Buffer.concat([header, code, message]);
}
