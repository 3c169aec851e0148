// A responder of OCSP, and lists of revoked certificates, as authorities have them, or as they do not.
import { createHash, sign, X509Certificate } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { bitString, der, generalizedTime, octets, oid, sequence } from "./der.ts";
import { elementsIn, extension, type Holder, issuerAndSerial, subjectIn } from "./notation-certificates.ts";

export const OCSP_SIGNING = "1.3.6.1.5.5.7.3.9";
const HOUR_MS = 3_600_000;
const HASHES = { sha1: "1.3.14.3.2.26", sha256: "2.16.840.1.101.3.4.2.1" } as const;

/** The extension of a certificate that names its responder. */
export function askAt(url: string): Buffer {
  return extension("1.3.6.1.5.5.7.1.1", sequence(sequence(oid("1.3.6.1.5.5.7.48.1"), der(0x86, url))));
}

/** The extension of a certificate that names a list. */
export function listAt(url: string): Buffer {
  return extension("2.5.29.31", sequence(sequence(der(0xa0, der(0xa0, der(0x86, url))))));
}

/** That nobody is to ask about the certificate of a responder. */
export const NO_CHECK: Buffer = extension("1.3.6.1.5.5.7.48.1.5", der(0x05, ""));

/** What is said of a certificate; by default that it is good, for two hours. Times are since 1970, in milliseconds. */
export interface OcspFields {
  state?: "good" | "revoked" | "unknown";
  fromMs?: number;
  /** Null: it is left out. */
  untilMs?: number | null;
  /** Since when somebody else may have the key. */
  invalidMs?: number;
  /** Who signs; by default the issuer. */
  signer?: Holder;
  /** Who it says to have signed; by default who has. */
  claimed?: Holder;
  byKey?: boolean;
  /** What goes with it, by default the signer's where that is not the issuer. */
  certificates?: readonly Holder[];
  hash?: keyof typeof HASHES;
  /** How often it says the same. */
  times?: number;
  /** More extensions of the answer, in DER. */
  extensions?: readonly Buffer[];
  /** The status of the whole; with another one than 0 nothing follows. */
  status?: number;
}

/** The number of a certificate in questions and answers. Source: RFC 6960, section 4.1.1. */
function certificateId(certificate: Holder, issuer: Holder, hash: keyof typeof HASHES = "sha1"): Buffer {
  const [serial = Buffer.alloc(0)] = elementsIn(issuerAndSerial(certificate.der)).slice(1);
  return sequence(
    sequence(oid(HASHES[hash]), der(0x05, "")),
    octets(createHash(hash).update(subjectIn(issuer.der)).digest()),
    octets(keyHash(issuer, hash)),
    serial,
  );
}

function keyHash({ der: bytes }: Holder, hash: string): Buffer {
  const key = new X509Certificate(bytes).publicKey.export({ type: "spki", format: "der" });
  const [, bits = Buffer.alloc(0)] = elementsIn(key);
  // Behind tag, length and the number of unused bits: keys of these tests have less than 128 bytes, or 270.
  return createHash(hash)
    .update(bits.subarray(bits.length < 0x80 ? 3 : 5))
    .digest();
}

/** An answer in DER. Source: RFC 6960, section 4.2. */
export function ocspAnswer(certificate: Holder, issuer: Holder, fields: OcspFields = {}, nowMs = Date.now()): Buffer {
  const { state = "good", fromMs = nowMs - 60_000, untilMs = nowMs + 2 * HOUR_MS, invalidMs, status = 0 } = fields;
  const enumerated = der(0x0a, Buffer.from([status]));
  if (status !== 0) return sequence(enumerated);
  const { signer = issuer, claimed = signer, byKey = false } = fields;
  const { certificates = signer === issuer ? [] : [signer], times = 1, extensions = [] } = fields;
  const said = {
    good: der(0x80, ""),
    revoked: der(0xa1, generalizedTime(nowMs - HOUR_MS)),
    unknown: der(0x82, ""),
  }[state];
  const single = sequence(
    certificateId(certificate, issuer, fields.hash),
    said,
    generalizedTime(fromMs),
    ...(untilMs === null ? [] : [der(0xa0, generalizedTime(untilMs))]),
    ...(invalidMs === undefined ? [] : [der(0xa1, sequence(extension("2.5.29.24", generalizedTime(invalidMs))))]),
  );
  const data = sequence(
    byKey ? der(0xa2, octets(keyHash(claimed, "sha1"))) : der(0xa1, subjectIn(claimed.der)),
    generalizedTime(fromMs),
    sequence(...Array<Buffer>(times).fill(single)),
    ...(extensions.length === 0 ? [] : [der(0xa1, sequence(...extensions))]),
  );
  const basic = sequence(
    data,
    sequence(oid("1.2.840.10045.4.3.2")),
    bitString(sign("sha256", data, signer.key)),
    ...(certificates.length === 0 ? [] : [der(0xa0, sequence(...certificates.map((each) => each.der)))]),
  );
  return sequence(enumerated, der(0xa0, sequence(oid("1.3.6.1.5.5.7.48.1.1"), octets(basic))));
}

/** What is answered to whoever asks about a certificate. */
export type Answering = OcspFields | ((response: ServerResponse) => void);

export interface OcspResponder {
  url: string;
  /** What was asked, as `POST /ocsp`. */
  asked: string[];
  /** What is said of a certificate from now on. */
  says(certificate: Holder, issuer: Holder, how?: Answering): void;
  /** Has a list, in PEM, at a path. */
  lists(path: string, pem: string): void;
  /** Breaks off all connections, or answers again. */
  setDown(value: boolean): void;
  close(): Promise<void>;
}

const MAX_QUESTION = 10_000;

/** `nowMs`: the time of the answers. */
export async function openOcspResponder(nowMs: () => number = Date.now): Promise<OcspResponder> {
  const answers = new Map<string, { certificate: Holder; issuer: Holder; how: Answering }>();
  const files = new Map<string, Buffer>();
  const asked: string[] = [];
  let isDown = false;
  const answer = (question: Buffer, response: ServerResponse): void => {
    const found = [...answers].find(([id]) => question.includes(Buffer.from(id, "hex")))?.[1];
    if (typeof found?.how === "function") return found.how(response);
    const { certificate, issuer, how = {} } = found ?? {};
    const body =
      certificate === undefined || issuer === undefined || typeof how === "function"
        ? sequence(der(0x0a, Buffer.from([6])))
        : ocspAnswer(certificate, issuer, how, nowMs());
    response.writeHead(200, { "content-type": "application/ocsp-response" }).end(body);
  };
  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(`${request.method} ${request.url}`);
    if (isDown) return void request.socket.destroy();
    const file = files.get(request.url ?? "");
    if (file !== undefined) return void response.writeHead(200).end(file);
    if (request.method !== "POST" || request.headers["content-type"] !== "application/ocsp-request")
      return void response.writeHead(405).end();
    const parts: Buffer[] = [];
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
    answer(Buffer.concat(parts).subarray(0, MAX_QUESTION), response);
  };
  const server = createServer((request, response) => void listener(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    says(certificate, issuer, how = {}) {
      answers.set(certificateId(certificate, issuer).toString("hex"), { certificate, issuer, how });
    },
    lists(path, pem) {
      files.set(path, Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ""), "base64"));
    },
    setDown(value) {
      isDown = value;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
