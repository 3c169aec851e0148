// What is wrong with a server's certificate, in words. Source: Node's documentation of tls, X509 certificate errors.

// Certificates that no authority known to this machine has signed.
const UNKNOWN: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "self-signed certificate in its chain",
  UNABLE_TO_GET_ISSUER_CERT: "an issuer of its chain is unknown",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "its issuer is unknown on this machine",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its issuer is unknown on this machine, or the server sends no whole chain",
};

/** What to do about a certificate of an authority that this machine does not know. */
export const CA_HINT = "for an authority of your own, name its certificate: --ca-file <file>, or MOORAGE_CA_FILE";

/** Whether the code says that the certificate's authority is unknown here. */
export function isUnknownAuthority(code: string): boolean {
  return Object.hasOwn(UNKNOWN, code);
}

/** The code in words, with itself; other codes and texts as they are. */
export function certificateProblem(code: string): string {
  const words = Object.hasOwn(UNKNOWN, code) ? UNKNOWN[code] : undefined;
  return words === undefined ? code : `${words} (${code})`;
}

/** What to do, when the error or one of its causes is about an unknown authority; undefined for other errors. */
export function certificateHint(error: unknown): string | undefined {
  let last = error;
  for (let depth = 0; depth < 8 && last instanceof Error; depth += 1) {
    if ("code" in last && isUnknownAuthority(String(last.code))) return CA_HINT;
    last = last.cause;
  }
  return undefined;
}
