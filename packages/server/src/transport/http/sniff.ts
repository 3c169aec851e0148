import type { Socket } from "node:net";

const PREFACE = Buffer.from("PRI");
const TLS_HANDSHAKE = 0x16;

/**
 * Recognizes the protocol of a connection by its first bytes, and calls `decided` once: "tls" for the first byte of a
 * handshake record, "http2" for the preface of RFC 9113 §3.4, "http1" for all else. The bytes are put back. For a
 * client that sends too little within `timeoutMs` milliseconds, disconnects or fails it is "none": close the socket.
 */
export function peek(
  socket: Socket,
  timeoutMs: number,
  decided: (protocol: "http1" | "http2" | "tls" | "none") => void,
): void {
  let seen: Buffer = Buffer.alloc(0);
  let done = false;
  const timer = setTimeout(() => finish("none"), timeoutMs).unref();

  const finish = (protocol: "http1" | "http2" | "tls" | "none"): void => {
    if (done) return;
    done = true;
    clearTimeout(timer);
    socket.off("readable", read).off("end", leave).off("close", leave);
    // The next owner of the socket listens for errors. On a socket about to be destroyed this listener stays and
    // swallows them.
    if (protocol !== "none") {
      socket.off("error", leave);
      socket.unshift(seen);
    }
    decided(protocol);
  };
  const leave = (): void => finish("none");
  const read = (): void => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    if (seen[0] === TLS_HANDSHAKE) finish("tls");
    else if (!PREFACE.subarray(0, seen.length).equals(seen.subarray(0, PREFACE.length))) finish("http1");
    else if (seen.length >= PREFACE.length) finish("http2");
  };
  socket.on("readable", read).once("end", leave).once("close", leave).on("error", leave);
}
