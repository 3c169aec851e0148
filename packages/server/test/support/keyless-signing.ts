// A Sigstore of one's own without any network: authority, logs and time stamps, as @sigstore/mock makes them.
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
// Not the package itself, which would take over the requests of all programs in this process.
import { initializeCA } from "@sigstore/mock/dist/fulcio/ca.js";
import { initializeCTLog } from "@sigstore/mock/dist/fulcio/ctlog.js";
import { initializeTLog } from "@sigstore/mock/dist/rekor/tlog.js";
import { initializeTSA } from "@sigstore/mock/dist/timestamp/tsa.js";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import { BUNDLE, IN_TOTO } from "./signing.ts";

const REKOR = "https://rekor.example.com";
/** From before the tests on: the authorities are made with the time at which they begin. */
const VALID = { start: new Date(Date.now() - 86_400_000) };
const SHA256 = "2.16.840.1.101.3.4.2.1";

/** What Fulcio certifies of a job. */
export interface Job {
  subject: string;
  issuer: string;
  /** By the number of the extension. */
  extensions?: Record<number, string>;
}

/** What goes into a bundle; all of it by default but the time stamp. */
export interface BundleOptions {
  withLog?: boolean;
  withPromise?: boolean;
  withTimestamp?: boolean;
  /** The certificate is one of an hour before. */
  isLate?: boolean;
  /** The key that the entry of the log names, in place of the certificate. */
  loggedKey?: string;
  /** In which logs it stands, by their numbers: an entry each. The first one alone by default. */
  logs?: readonly number[];
  /** Of which time-stamping authorities it has a stamp, by their numbers. */
  stamps?: readonly number[];
}

/** How many logs and time-stamping authorities there are; one of each by default. */
export interface SigstoreParts {
  logs?: number;
  authorities?: number;
}

export type Sigstore = Awaited<ReturnType<typeof openSigstore>>;

/** Certificates and entries are of a time at which all authorities are valid, however long it takes to make these. */
const AHEAD_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A new one, whose certificates are valid for ten minutes from soon on. */
export async function openSigstore({ logs: logCount = 1, authorities: authorityCount = 1 }: SigstoreParts = {}) {
  // A whole second: @sigstore/core reads no time whose fraction has one digit or two.
  const clock = new Date(Math.trunc(Date.now() / 1_000) * 1_000 + AHEAD_MS);
  const pair = (): { privateKey: KeyObject; publicKey: KeyObject } =>
    generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ctPair = pair();
  const ct = await initializeCTLog(ctPair, clock);
  const caPair = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const ca = await initializeCA(caPair, ct, clock);
  const earlierCa = await initializeCA(caPair, ct, new Date(clock.getTime() - HOUR_MS));
  const logPairs = Array.from({ length: logCount }, pair);
  const logs = await Promise.all(logPairs.map((each) => initializeTLog(REKOR, each, clock)));
  // Each a second later than the one before: their certificates have the same serial number, and equal stamps are one.
  const authorities = await Promise.all(
    Array.from({ length: authorityCount }, (_, n) =>
      initializeTSA(generateKeyPairSync("ec", { namedCurve: "P-384" }), new Date(clock.getTime() + n * 1_000)),
    ),
  );
  const at = <T>(all: readonly T[], index: number): T => {
    const found = all[index];
    if (found === undefined) throw new Error(`there is no number ${index}`);
    return found;
  };
  const der = ({ publicKey }: { publicKey: KeyObject }): Buffer => publicKey.export({ type: "spki", format: "der" });
  const logOf = (key: Buffer): object => ({
    baseUrl: REKOR,
    hashAlgorithm: "SHA2_256",
    publicKey: {
      rawBytes: key.toString("base64"),
      keyDetails: "PKIX_ECDSA_P256_SHA_256",
      validFor: { start: VALID.start.toISOString() },
    },
    logId: { keyId: createHash("sha256").update(key).digest("base64") },
  });
  const authority = (...certificates: ArrayBufferView[]): object => ({
    subject: { organization: "example", commonName: "example" },
    uri: "https://fulcio.example.com",
    certChain: {
      certificates: certificates.map((each) => ({ rawBytes: Buffer.from(bytesOf(each)).toString("base64") })),
    },
    validFor: { start: VALID.start.toISOString() },
  });
  const rootOf = (): string =>
    JSON.stringify(
      TrustedRoot.toJSON(
        TrustedRoot.fromJSON({
          mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
          tlogs: logPairs.map((each) => logOf(der(each))),
          certificateAuthorities: [authority(ca.rootCertificate)],
          ctlogs: [logOf(der(ctPair))],
          timestampAuthorities: authorities.map((each) => authority(each.intCertificate, each.rootCertificate)),
        }),
      ),
    );

  /** A certificate for a new key of the job. */
  async function certify(
    { subject, issuer, extensions = {} }: Job,
    by = ca,
  ): Promise<{ key: KeyObject; certificate: Buffer }> {
    const own = pair();
    const all = [
      // As Fulcio does, in both forms: cosign reads the older one of signatures below tags.
      { oid: "1.3.6.1.4.1.57264.1.1", value: issuer, legacy: true },
      { oid: "1.3.6.1.4.1.57264.1.8", value: issuer },
      ...Object.entries(extensions).map(([n, value]) => ({ oid: `1.3.6.1.4.1.57264.1.${n}`, value })),
    ];
    const publicKey = Buffer.from(der(own));
    const made = await by.issueCertificate({ publicKey, subjectAltName: subject, extensions: all });
    return { key: own.privateKey, certificate: Buffer.from(bytesOf(made)) };
  }

  interface LogAnswer {
    body: string;
    integratedTime: number;
    logID: string;
    logIndex: number;
    verification: { signedEntryTimestamp: string };
  }
  const pemOf = (certificate: Buffer): string =>
    `-----BEGIN CERTIFICATE-----\n${(certificate.toString("base64").match(/.{1,64}/g) ?? []).join("\n")}\n-----END CERTIFICATE-----\n`;

  /** An entry of the log for a signature of bytes with this hash. */
  async function logged(digest: Buffer, signature: Buffer, maker: string): Promise<LogAnswer> {
    const answers = await at(logs, 0).log({
      kind: "hashedrekord",
      apiVersion: "0.0.1",
      spec: {
        data: { hash: { algorithm: "sha256", value: digest.toString("hex") } },
        signature: {
          content: signature.toString("base64"),
          publicKey: { content: Buffer.from(maker).toString("base64") },
        },
      },
    } as never);
    return Object.values(answers as unknown as Record<string, LogAnswer>)[0] as LogAnswer;
  }

  async function stamp(signature: Buffer, by: number): Promise<string> {
    const artifactHash = createHash("sha256").update(signature).digest();
    const made = await at(authorities, by).timestamp({
      artifactHash,
      hashAlgorithmOID: SHA256,
      nonce: 1,
      policyOID: "1.2.3.4",
    });
    return Buffer.from(bytesOf(made)).toString("base64");
  }

  /** A statement that the job has signed, as a bundle of Sigstore. */
  async function bundle(job: Job, payload: string, options: BundleOptions = {}): Promise<string> {
    const { withLog = true, withPromise = true, withTimestamp = false, loggedKey, isLate = false } = options;
    const { logs: inLogs = withLog ? [0] : [], stamps = withTimestamp ? [0] : [] } = options;
    const { key, certificate } = await certify(job, isLate ? earlierCa : ca);
    const size = (text: string): number => Buffer.byteLength(text);
    const message = Buffer.from(`DSSEv1 ${size(IN_TOTO)} ${IN_TOTO} ${size(payload)} ${payload}`);
    const signature = sign("sha256", message, key);
    // Entries of one log differ in the hash of the envelope, which nobody verifies.
    const bodyOf = (n: number) => ({
      kind: "dsse",
      apiVersion: "0.0.1",
      spec: {
        payloadHash: { algorithm: "sha256", value: createHash("sha256").update(payload).digest("hex") },
        envelopeHash: { algorithm: "sha256", value: String(n).repeat(64) },
        signatures: [
          {
            signature: signature.toString("base64"),
            verifier: Buffer.from(loggedKey ?? pemOf(certificate)).toString("base64"),
          },
        ],
      },
    });
    interface ProvenAnswer extends LogAnswer {
      verification: LogAnswer["verification"] & {
        inclusionProof: { checkpoint: string; rootHash: string; treeSize: number; logIndex: number };
      };
    }
    const entryOf = async (inLog: number, n: number): Promise<object> => {
      const answers = await at(logs, inLog).log(bodyOf(n) as never);
      const [entry] = Object.values(answers as unknown as Record<string, ProvenAnswer>);
      const proof = entry?.verification.inclusionProof;
      return {
        logIndex: String(entry?.logIndex),
        logId: { keyId: Buffer.from(entry?.logID ?? "", "hex").toString("base64") },
        kindVersion: { kind: "dsse", version: "0.0.1" },
        ...(withPromise && { integratedTime: String(entry?.integratedTime) }),
        ...(withPromise && { inclusionPromise: { signedEntryTimestamp: entry?.verification.signedEntryTimestamp } }),
        inclusionProof: {
          logIndex: String(proof?.logIndex),
          treeSize: String(proof?.treeSize),
          rootHash: Buffer.from(proof?.rootHash ?? "", "hex").toString("base64"),
          hashes: [],
          checkpoint: { envelope: proof?.checkpoint },
        },
        canonicalizedBody: entry?.body,
      };
    };
    return JSON.stringify({
      mediaType: BUNDLE,
      verificationMaterial: {
        certificate: { rawBytes: certificate.toString("base64") },
        tlogEntries: await Promise.all(inLogs.map(entryOf)),
        timestampVerificationData: {
          rfc3161Timestamps: await Promise.all(
            stamps.map(async (by) => ({ signedTimestamp: await stamp(signature, by) })),
          ),
        },
      },
      dsseEnvelope: {
        payloadType: IN_TOTO,
        payload: Buffer.from(payload).toString("base64"),
        signatures: [{ keyid: "", sig: signature.toString("base64") }],
      },
    });
  }

  /** The annotations with which cosign 2 stores what the job has signed. */
  async function cosignAnnotations(job: Job, payload: string): Promise<Record<string, string>> {
    const { key, certificate } = await certify(job);
    const signature = sign("sha256", Buffer.from(payload), key);
    const digest = createHash("sha256").update(payload).digest();
    const { body, integratedTime, logIndex, logID, verification } = await logged(digest, signature, pemOf(certificate));
    return {
      "dev.cosignproject.cosign/signature": signature.toString("base64"),
      "dev.sigstore.cosign/certificate": pemOf(certificate),
      "dev.sigstore.cosign/chain": "",
      "dev.sigstore.cosign/bundle": JSON.stringify({
        SignedEntryTimestamp: verification.signedEntryTimestamp,
        Payload: { body, integratedTime, logIndex, logID },
      }),
    };
  }
  return { root: rootOf(), bundle, cosignAnnotations };
}

function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
