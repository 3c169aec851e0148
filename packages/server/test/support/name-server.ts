import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { TestContext } from "node:test";

/** A name server on loopback. It never answers for names that end with `.silent`, nor for `silent` questions. */
export interface NameServer {
  /** `address:port`. */
  address: string;
  /** What it was asked for, such as `name.test A`. */
  questions: string[];
}

const TYPES: Record<number, string> = { 1: "A", 28: "AAAA" };

/** `names`: the addresses of each name. Source of the format: RFC 1035 §4. */
export async function openNameServer(
  t: Pick<TestContext, "after">,
  names: Record<string, string[]>,
  silent: string[] = [],
): Promise<NameServer> {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (message, { address, port }) => {
    const { name, type, end } = questionOf(message);
    const question = `${name} ${type}`;
    questions.push(question);
    if (name.endsWith(".silent") || silent.includes(question)) return;
    const known = names[name];
    const found = (known ?? []).filter((one) => isIPv6(one) === (type === "AAAA") && ["A", "AAAA"].includes(type));
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    const answers = found.map((one) => {
      const bytes = isIPv6(one) ? ipv6Bytes(one) : Buffer.from(one.split(".").map(Number));
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(isIPv6(one) ? 28 : 1, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([record, bytes]);
    });
    socket.send(Buffer.concat([head, message.subarray(12, end), ...answers]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  t.after(() => void socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}

function questionOf(message: Buffer): { name: string; type: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1);
  return { name: labels.join(".").toLowerCase(), type: TYPES[type] ?? String(type), end: at + 5 };
}

function ipv6Bytes(text: string): Buffer {
  const [before = "", after = ""] = text.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const all = [
    ...groups(before),
    ...Array.from({ length: 8 - groups(before).length - groups(after).length }, () => "0"),
    ...groups(after),
  ];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}
