import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Config, ConfigError, variableOf, settingError } from "@moorage/kernel/config";
import type { TermsDocument } from "@moorage/kernel/core/service";
import { trustAuthorities } from "@moorage/kernel/lib/authorities";
import { networks } from "@moorage/kernel/lib/network";
import { type SmtpSettings, smtpOf } from "@moorage/platform/mail";
import { readTerms } from "../installation/terms-file.ts";
import { type ClientAddress, clientAddress } from "../transport/http/client-address.ts";
import type { KeyPair } from "../transport/http/listen.ts";

/** What is read and checked of the settings before anything is opened. */
export interface Preflight {
  /** Undefined without TLS. */
  tls: KeyPair | undefined;
  terms: readonly TermsDocument[];
  /** Undefined where no mail is sent. */
  smtp: SmtpSettings | undefined;
  /** The address of a request's client. */
  addressOf: ClientAddress;
  /** Whether the address is that of a trusted proxy, which speaks for many clients. */
  isProxy: (address: string) => boolean;
  /** Whether the address may read /metrics. */
  mayReadMetrics: (address: string) => boolean;
}

/** Reads the files and addresses that the settings name. Throws a ConfigError that names the setting at fault. */
export function preflight(settings: Config): Preflight {
  if (settings.caFile !== "") trustCaFile(settings.caFile);
  return {
    tls: settings.tlsCert === "" ? undefined : readTls(settings),
    terms: readTerms(settings.termsFile),
    smtp: smtpOf(settings),
    addressOf: addressRule(() => clientAddress(settings.trustedProxies)),
    isProxy: addressRule(() => networks(variableOf("trustedProxies"), settings.trustedProxies)),
    mayReadMetrics: addressRule(() => networks(variableOf("metricsNetworks"), settings.metricsNetworks)),
  };
}

function trustCaFile(file: string): void {
  try {
    trustAuthorities(file);
  } catch (error) {
    throw settingError("caFile", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function readTls({ tlsCert, tlsKey }: Config): KeyPair {
  const cert = readSetting("tlsCert", tlsCert);
  const key = readSetting("tlsKey", tlsKey);
  const certificate = parsed("tlsCert", `${tlsCert} holds no PEM certificate`, () => new X509Certificate(cert));
  const privateKey = parsed("tlsKey", `${tlsKey} holds no PEM private key`, () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey))
    throw settingError("tlsKey", `is not the key of the certificate in ${variableOf("tlsCert")}`);
  return { cert, key };
}

function parsed<T>(setting: "tlsCert" | "tlsKey", problem: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw settingError(setting, problem, { cause: error });
  }
}

function readSetting(setting: "tlsCert" | "tlsKey", file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw settingError(setting, `cannot read ${file}`, { cause: error });
  }
}

/** A rule about addresses. Throws a ConfigError for an invalid network. */
function addressRule<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
