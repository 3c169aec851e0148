// Whose certificates commands trust: the machine's authorities, and those that somebody named.
import { resolve } from "node:path";
import { Failure } from "../command/failure.ts";

const VARIABLE = "MOORAGE_CA_FILE";

/** Flags about certificates. */
export interface TrustFlags {
  /** A file with certificate authorities, PEM. */
  caFile?: string;
  insecureSkipTlsVerify?: boolean;
}

// What is named holds in place of what is stored, which may be gone.
let isNamed = false;

/** Trusts what the flags and MOORAGE_CA_FILE say, from now on. Throws a Failure that names the wrong one. */
export async function applyTrust({ caFile, insecureSkipTlsVerify }: TrustFlags): Promise<void> {
  if (caFile !== undefined) await named("--ca-file", caFile);
  else await trustFromEnvironment();
  if (insecureSkipTlsVerify === true) skipVerification();
}

/** Trusts the authorities of MOORAGE_CA_FILE, for programs without flags. Throws a Failure. */
export async function trustFromEnvironment(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<void> {
  await named(VARIABLE, env[VARIABLE]);
}

/**
 * Trusts the authorities of a file that was stored before, with a sign-in or in a context, unless this command line or
 * the environment names one. Throws a Failure.
 */
export async function trustStored(where: string, file: string | undefined): Promise<void> {
  if (!isNamed) await trust(where, file);
}

/** The file of the flag or of MOORAGE_CA_FILE as it is stored: with its whole path. Undefined where there is none. */
export function namedAuthorities({ caFile }: TrustFlags): string | undefined {
  const file = caFile || process.env[VARIABLE];
  return file ? resolve(file) : undefined;
}

async function named(field: string, file: string | undefined): Promise<void> {
  await trust(field, file);
  isNamed ||= file !== undefined && file !== "";
}

async function trust(field: string, file: string | undefined): Promise<void> {
  if (file === undefined || file === "") return;
  const { trustAuthorities } = await import("@moorage/kernel/lib/authorities");
  try {
    trustAuthorities(resolve(file));
  } catch (cause) {
    throw new Failure(cause instanceof Error ? cause.message : String(cause), { field, cause });
  }
}

/** Accepts any certificate from now on, and says so each time. */
function skipVerification(): void {
  process.stderr.write(
    "moorage: warning: --insecure-skip-tls-verify: nobody's certificate is verified, and whoever is on the way can read and change everything, the token included\n",
  );
  // Node has a warning of its own about a variable that nobody has set.
  const { emitWarning } = process;
  process.emitWarning = ((...args: Parameters<typeof emitWarning>) => {
    if (!String(args[0]).includes("NODE_TLS_REJECT_UNAUTHORIZED")) Reflect.apply(emitWarning, process, args);
  }) as typeof emitWarning;
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
}
