import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
// Older versions of Node lack one of its functions, and a name that is imported must be there.
import tls from "node:tls";

const MAX_BYTES = 4 << 20;
const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";
const done = new Set<string>();

/**
 * From now on this process trusts the certificate authorities in the file, PEM, beside those that it trusted before.
 * Throws an Error that says what is wrong with the file.
 */
export function trustAuthorities(file: string): void {
  if (done.has(file)) return;
  const certificates = read(file);
  if (typeof tls.setDefaultCACertificates !== "function")
    throw new Error(`this Node, ${process.version}, cannot: use 22.19, 24.5 or later, or NODE_EXTRA_CA_CERTS=${file}`);
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), ...certificates]);
  done.add(file);
}

function read(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, "latin1");
  } catch (cause) {
    throw new Error(`cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  if (text.length > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES >> 20} MiB`);
  const certificates = text
    .split(BEGIN)
    .slice(1)
    .map((each) => `${BEGIN}${each.split(END, 1)[0] ?? ""}${END}\n`);
  if (certificates.length === 0) throw new Error(`${file} holds no PEM certificate`);
  const unreadable = certificates.findIndex((each) => !isCertificate(each));
  if (unreadable >= 0) throw new Error(`${file}: certificate ${unreadable + 1} of ${certificates.length} is damaged`);
  return certificates;
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}
