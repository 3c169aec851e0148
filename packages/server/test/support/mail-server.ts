import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { selfSigned } from "./certificate.ts";
import { eventually } from "./eventually.ts";

/** A mail as it arrived. */
interface Arrived {
  from: string;
  to: string[];
  /** The message as it was sent, headers and all. */
  raw: string;
  /** Its headers by lower-case name, unfolded. */
  headers: Map<string, string>;
  /** Its text, decoded. */
  text: string;
  /** Whether it came over TLS. */
  isSecure: boolean;
  user: string;
}

export interface MailServer {
  port: number;
  mails: Arrived[];
  /** Recipients that were named, whether or not they were taken. */
  asked: string[];
  /** What RCPT TO is answered from now on; undefined takes it. */
  answerRecipient: (address: string) => { code: number; text: string } | undefined;
  /** The mail to this address, once it is there. */
  mailTo(address: string): Promise<Arrived>;
  close(): Promise<void>;
}

export const USER = "registry";
export const MAIL_PASSWORD = "p@ss/word: 100%";

/** A mail server on loopback; without options it takes all, in the clear, without a sign-in. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: Arrived[] = [];
  const asked: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    onAuth({ username, password }, _session, done) {
      if (username === USER && password === MAIL_PASSWORD) done(null, { user: username });
      else done(new Error("who is that?"));
    },
    onRcptTo({ address }, _session, done) {
      asked.push(address);
      const refused = self.answerRecipient(address);
      if (refused === undefined) done();
      else done(Object.assign(new Error(refused.text), { responseCode: refused.code }));
    },
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: String(session.user ?? ""),
          ...parsed(Buffer.concat(parts).toString("latin1")),
        });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.server.address();
  const self: MailServer = {
    port: typeof address === "object" && address !== null ? address.port : 0,
    mails,
    asked,
    answerRecipient: () => undefined,
    mailTo: (to) => eventually(() => mails.find((mail) => mail.to.includes(to))),
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
  return self;
}

function parsed(raw: string): Pick<Arrived, "raw" | "headers" | "text"> {
  const cut = raw.indexOf("\r\n\r\n");
  const lines = raw
    .slice(0, cut)
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const body = raw.slice(cut + 4);
  const isBase64 = headers.get("content-transfer-encoding") === "base64";
  return { raw, headers, text: isBase64 ? Buffer.from(body, "base64").toString("utf8") : body };
}

/** A mail server's TLS: its options, and the file of the authority that clients trust it by. */
export function mailTls(folder: string): { options: SMTPServerOptions; ca: string } {
  const { cert, key } = selfSigned();
  const ca = join(folder, "mail-ca.pem");
  writeFileSync(ca, cert);
  return { options: { cert: readFileSync(ca), key, disabledCommands: [] }, ca };
}

/** A server that takes connections and never says a word. */
export async function startSilentServer(): Promise<{ port: number; connections(): number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    connections: () => count,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
