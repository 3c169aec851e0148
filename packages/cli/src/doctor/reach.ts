import { connect, type DetailedPeerCertificate } from "node:tls";
import type { Config } from "@moorage/server";
import { type Check, failed, notChecked, ok, warning } from "./check.ts";
import { CA_HINT, certificateProblem } from "../http/certificates.ts";
import { type Answer, get, objectOf } from "./request.ts";

const TLS_TIMEOUT_MS = 5_000;
const DAY_MS = 86_400_000;
const SOON_DAYS = 21;
const MAX_OFFSET_MS = 30_000;
const LATE_OFFSET_MS = 5_000;
const DISCOVERY = "/.well-known/openid-configuration";

/** Where the server listens on this machine. */
export function localUrl({ host, port, tlsCert }: Config): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `${tlsCert === "" ? "http" : "https"}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/**
 * Whether a server answers there, and what it says of itself. `lastUrl`: where the server of the data folder was when
 * it was last started.
 */
export async function examineServer(url: string, lastUrl?: string): Promise<Check> {
  const name = "server";
  const answer = await get(`${url}/readyz`, { trusts: true }).catch((error: Error) => error);
  if (answer instanceof Error) {
    const message = `none answers at ${url}: ${answer.message}`;
    return lastUrl === undefined || new URL(lastUrl).port === new URL(url).port
      ? notChecked(name, message, "start it for the checks that need it")
      : notChecked(
          name,
          `${message}; the server of this data folder was last started as ${lastUrl}`,
          "run moorage doctor with the settings of that server, such as its MOORAGE_PORT",
        );
  }
  if (answer.status === 200 && answer.text.startsWith("ready"))
    return answer.text === "ready"
      ? ok(name, `${url} is ready`)
      : warning(name, `${url}: ${answer.text}`, "see the log");
  return failed(
    name,
    `${url}/readyz: ${answer.status} ${answer.text.slice(0, 500)}`,
    "see the log (docs/operations.md#health)",
  );
}

/**
 * Whether clients that go to the base URL come to this server. `local`: its address on this machine; undefined where
 * that is not known. `said`: called with the clock of who answered.
 */
export async function examineBaseUrl(
  baseUrl: string,
  local: string | undefined,
  said: (offsetMs: number | undefined) => void,
): Promise<Check> {
  const name = "base URL";
  const fix = "MOORAGE_BASE_URL, the name in DNS, or the proxy's forwarding";
  const answer = await get(baseUrl + DISCOVERY).catch((error: Error) => error);
  if (answer instanceof Error) return failed(name, `${baseUrl}: ${answer.message}`, fix);
  said(answer.offsetMs);
  const document = objectOf(answer.text);
  if (answer.status !== 200 || document === undefined)
    return failed(name, `${baseUrl}: something else answers (${answer.status})`, fix);
  if (document["issuer"] !== baseUrl)
    return failed(name, `${baseUrl}: the server there is ${String(document["issuer"]).slice(0, 200)}`, fix);
  if (local === undefined) return ok(name, `${baseUrl} answers, and is its own issuer`);
  const path = new URL(String(document["jwks_uri"])).pathname;
  const [there, here] = await Promise.all([keysOf(baseUrl + path), keysOf(local + path)]);
  if (here === undefined)
    return notChecked(name, `${baseUrl} answers; whether it is this server shows only while that runs`);
  return there?.some((key) => here.includes(key)) === true
    ? ok(name, `${baseUrl} comes to this server`)
    : failed(name, `${baseUrl} comes to another server than ${local}`, fix);
}

async function keysOf(url: string): Promise<string[] | undefined> {
  const answer: Answer | undefined = await get(url, { trusts: true }).catch(() => undefined);
  const keys = objectOf(answer?.text ?? "")?.["keys"];
  return Array.isArray(keys) ? keys.map((key) => String((key as { kid?: unknown } | null)?.kid)) : undefined;
}

/** The certificates of the URL: whether this machine trusts them, for this name, and for how long. */
export async function examineTls(baseUrl: string): Promise<Check> {
  const name = "TLS";
  const { protocol, hostname, port } = new URL(baseUrl);
  if (protocol !== "https:") return notChecked(name, `${baseUrl} is not https`);
  const place = `${hostname}:${port === "" ? 443 : port}`;
  const found = await peerOf(hostname, port === "" ? 443 : Number(port));
  if (found instanceof Error)
    return failed(name, `${place}: ${found.message}`, "MOORAGE_BASE_URL, the name in DNS, or the proxy that ends TLS");
  const { problem, certificate } = found;
  const ends = chainOf(certificate).map(({ valid_to: end }) => Date.parse(end));
  const end = Math.min(...ends);
  if (Number.isNaN(end)) return notChecked(name, `${place}: it shows no certificate whose end can be read`);
  const days = Math.floor((end - Date.now()) / DAY_MS);
  const until = `until ${new Date(end).toISOString().slice(0, 10)}`;
  if (days < 0)
    return failed(name, `${place}: a certificate has ended, good ${until}`, "renew it, and restart or reload");
  if (problem !== undefined)
    return failed(
      name,
      `${place}: ${problem}`,
      `send the whole chain in MOORAGE_TLS_CERT, of an authority that clients trust; ${CA_HINT}`,
    );
  if (days < SOON_DAYS) return warning(name, `${place}: good ${until}, for ${days} days`, "renew the certificate");
  return ok(name, `${place}: a chain of ${ends.length}, good ${until}`);
}

function peerOf(
  host: string,
  port: number,
): Promise<Error | { problem?: string; certificate: DetailedPeerCertificate }> {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof peerOf>>>();
  // What is wrong with the certificate is the answer; nothing is sent.
  const socket = connect({ host, port, servername: host, rejectUnauthorized: false });
  socket.setTimeout(TLS_TIMEOUT_MS, () => socket.destroy(new Error("no answer in 5 seconds")));
  socket.once("error", resolve);
  socket.once("secureConnect", () => {
    const { authorized, authorizationError } = socket;
    resolve({
      ...(!authorized && {
        problem: certificateProblem(
          authorizationError instanceof Error ? authorizationError.message : String(authorizationError),
        ),
      }),
      certificate: socket.getPeerCertificate(true),
    });
    socket.destroy();
  });
  return promise;
}

function chainOf(first: DetailedPeerCertificate): DetailedPeerCertificate[] {
  const chain = [first];
  for (
    let next = first.issuerCertificate;
    next !== undefined && !chain.includes(next) && chain.length < 10;
    next = next.issuerCertificate
  )
    chain.push(next);
  return chain;
}

/** This machine's clock compared with other clocks, by how much each is ahead. */
export function examineClock(offsets: ReadonlyMap<string, number>): Check[] {
  const name = "clock";
  if (offsets.size === 0) return [notChecked(name, "nobody else said what time it is")];
  return [...offsets].map(([whose, offsetMs]) => {
    const seconds = Math.abs(Math.round(offsetMs / 1000));
    const message = `${whose} is ${seconds} s ${offsetMs > 0 ? "ahead of" : "behind"} this machine`;
    const fix = "set the clocks by NTP: tokens are good for minutes";
    if (Math.abs(offsetMs) > MAX_OFFSET_MS) return failed(name, message, fix);
    return Math.abs(offsetMs) > LATE_OFFSET_MS
      ? warning(name, message, fix)
      : ok(name, `${whose}: within 5 s of this machine`);
  });
}
