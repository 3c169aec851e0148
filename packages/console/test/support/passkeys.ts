import type { Browser, Page } from "playwright-core";
import type { Platform } from "../../../server/test/support/platform.ts";
import { newPage } from "./console.ts";

/** A page of a browser of its own, with passkeys, at the server's name: passkeys need one. */
export async function pageWithPasskeys(
  opened: Browser,
  { url }: Platform,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await newPage(opened, url.replace("127.0.0.1", "localhost"));
  const complaints: string[] = [];
  page.on("pageerror", ({ message }) => complaints.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { page, complaints };
}

/** The path of a URL of the server, to be opened at the name under which its pages have passkeys. */
export function at(url: string): string {
  return url.replace(/^https?:\/\/[^/]+/, "");
}
