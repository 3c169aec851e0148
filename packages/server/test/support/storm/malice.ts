import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { Dice } from "../dice.ts";

/** How a malicious receiver handles a request that it has read. Returns the status that it sent, 0 for none. */
type Malice = (req: IncomingMessage, res: ServerResponse, dice: Dice) => number;

const MIB = 2 ** 20;
const CHUNK = Buffer.alloc(65_536, "a");
const DRIP_MS = 100;
// 64 MiB of zeros, compressed twice.
const BOMB = gzipSync(gzipSync(Buffer.alloc(64 * MIB)));
const RETRY_AFTER = [
  "-1",
  "0",
  "soon",
  "99999999999999999999",
  "1e9",
  "Fri, 31 Dec 9999 23:59:59 GMT",
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "",
];

/** The path of a redirect's target, which must never be requested. */
const TRAP = "trap";

/** The behaviors by the second segment of the path. */
export const MALICE: Record<string, Malice> = {
  redirect: (_req, res, dice) => answer(res, dice.pick([301, 302, 303, 307, 308]), { location: `/${TRAP}` }),
  gone: (_req, res) => answer(res, 410),
  later: (_req, res, dice) => answer(res, dice.pick([429, 503]), { "retry-after": dice.pick(RETRY_AFTER) }),
  bomb: (_req, res) => answer(res, 200, { "content-encoding": "gzip, gzip", "content-length": BOMB.length }, BOMB),
  page: (_req, res) =>
    answer(res, 404, { "content-type": "text/html" }, "<script>alert(1)</script>\u001b[2J\r\n".repeat(2_000)),
  silent: () => 0,
  endless(_req, res) {
    const pour = (): void => {
      while (!res.destroyed && res.write(CHUNK));
    };
    res.writeHead(200).on("drain", pour);
    pour();
    return 200;
  },
  "slow-loris": (req) => drip(req, "HTTP/1.1 200 OK\r\n", "x: y\r\n"),
  "slow-body": (req) => drip(req, "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", "a", 200),
  informational: (req) => drip(req, "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(100)),
  "long-headers": (req) => raw(req, `HTTP/1.1 200 OK\r\n${`x: ${"a".repeat(8_000)}\r\n`.repeat(100)}\r\n`),
  "two-answers": (req) =>
    raw(
      req,
      `HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n${"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".repeat(5)}`,
      500,
    ),
  short: (req) => raw(req, "HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\nshort", 200),
  "not-http": (req) => raw(req, "SSH-2.0-storm\r\n\0\u0001\u0002\r\n\r\n"),
  "bad-length": (req) => raw(req, "HTTP/1.1 200 OK\r\ncontent-length: -1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
  upgrade: (req) => raw(req, "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: storm\r\n\r\nhello"),
};

function answer(
  res: ServerResponse,
  status: number,
  headers: Record<string, string | number> = {},
  content: string | Buffer = "",
): number {
  res.writeHead(status, headers).end(content);
  return status;
}

function raw({ socket }: IncomingMessage, text: string, status = 0): number {
  socket.end(text);
  return status;
}

/** Writes repeatedly, without end. */
function drip({ socket }: IncomingMessage, first: string, more: string, status = 0): number {
  socket.write(first);
  const timer = setInterval(() => socket.write(more), DRIP_MS);
  socket.once("close", () => clearInterval(timer));
  return status;
}
