import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Config, ConfigError } from "../config.ts";
import type { TermsDocument } from "../core/service.ts";
import { readTerms } from "../installation/terms-file.ts";
import { type ClientAddress, clientAddress, networks } from "../transport/http/client-address.ts";
import type { KeyPair } from "../transport/http/listen.ts";

/** What settings name that is looked at before anything is opened. */
export interface Preflight {
  /** Absent: no TLS. */
  tls: KeyPair | undefined;
  terms: readonly TermsDocument[];
  /** The address of a request's client. */
  addressOf: ClientAddress;
  /** Whether the address may read /metrics. */
  mayReadMetrics: (address: string) => boolean;
}

/** Reads the files and addresses that settings name. Throws a ConfigError that names the setting at fault. */
export function preflight(settings: Config): Preflight {
  return {
    tls: settings.tlsCert === "" ? undefined : readTls(settings),
    terms: readTerms(settings.termsFile),
    addressOf: addressRule(() => clientAddress(settings.trustedProxies)),
    mayReadMetrics: addressRule(() => networks("MOORAGE_METRICS_NETWORKS", settings.metricsNetworks)),
  };
}

function readTls({ tlsCert, tlsKey }: Config): KeyPair {
  const cert = readSetting("MOORAGE_TLS_CERT", tlsCert);
  const key = readSetting("MOORAGE_TLS_KEY", tlsKey);
  const certificate = parsed(
    "MOORAGE_TLS_CERT",
    `${tlsCert} holds no PEM certificate`,
    () => new X509Certificate(cert),
  );
  const privateKey = parsed("MOORAGE_TLS_KEY", `${tlsKey} holds no PEM private key`, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw new ConfigError("MOORAGE_TLS_KEY: is not the key of the certificate in MOORAGE_TLS_CERT");
  return { cert, key };
}

function parsed<T>(name: string, problem: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new ConfigError(`${name}: ${problem}`, { cause: error });
  }
}

function readSetting(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(`${name}: cannot read ${file}`, { cause: error });
  }
}

/** A rule about addresses; a network in it that is none is its setting's fault. */
function addressRule<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
