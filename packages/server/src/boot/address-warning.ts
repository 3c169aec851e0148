import type { Logger } from "pino";
import { type Config, variableOf } from "@moorage/kernel/config";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/i;

/**
 * Warns, once at the start, when other machines reach the server and no base URL is set: they get addresses by the name
 * that they called, but the issuer of tokens has that of this machine.
 */
export function warnOfAddresses(
  { host, baseUrl, followsHost }: Pick<Config, "host" | "baseUrl" | "followsHost">,
  log: Pick<Logger, "warn">,
): void {
  if (!followsHost.platform || LOOPBACK.test(host)) return;
  const setting = variableOf("baseUrl");
  log.warn(
    { host, issuer: baseUrl },
    `${setting} is not set, and the server listens on ${host}: tokens are issued by ${baseUrl}, where other machines ` +
      `do not find it, and sign-in leads there; set ${setting} to the URL that clients use, such as ` +
      `https://registry.example.com, and ${variableOf("registryHosts")} to further names of the registry`,
  );
}
