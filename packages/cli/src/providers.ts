// Which identity provider a person signs in through: named by a flag, or chosen from those of an organization.
import { jsonOf } from "./oauth.ts";
import { plain } from "./printable.ts";
import { isInteractive, question } from "./terminal/question.ts";

/** What was named on the command line. */
export interface Named {
  organization?: string;
  identityProvider?: string;
}

interface Provider {
  uid: string;
  name: string;
}

const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/**
 * The uid of the provider; empty when the person chooses it in the browser. Without names it is the one of the last
 * sign-in; without that the person at the terminal says the organization, since a server does not list its
 * organizations, and chooses. Throws an Error that says what to name.
 */
export async function chooseProvider(server: string, named: Named, last: string | undefined): Promise<string> {
  const { identityProvider = "" } = named;
  if (UID.test(identityProvider)) return identityProvider;
  if (named.organization === undefined && identityProvider === "" && last) return last;
  const organization = named.organization ?? (await askOrganization());
  if (organization === "" && identityProvider === "") return "";
  const found = await providersOf(server, organization);
  if (found.length === 0)
    throw new Error(
      `${organization} has no identity provider at ${server}, or is not there: its administrators know the name, or the uid for --identity-provider`,
    );
  if (identityProvider !== "") return providerNamed(found, identityProvider, organization).uid;
  const [only, second] = found;
  if (only !== undefined && second === undefined) {
    console.error(`Signing in through ${only.name}`);
    return only.uid;
  }
  return choose(found);
}

async function askOrganization(): Promise<string> {
  if (!isInteractive())
    throw new Error("--organization: is required for the first sign-in to a server, or --identity-provider with a uid");
  return question("Name of your organization (or nothing, to choose in the browser): ");
}

/** Names may be numbers too, so a name that is typed whole goes before the number of a line. */
async function choose(found: readonly Provider[]): Promise<string> {
  const list = found.map(({ name }, at) => `  ${at + 1}. ${name}`).join("\n");
  if (!isInteractive())
    throw new Error(`--identity-provider: is required, one of ${found.map(({ name }) => name).join(", ")}`);
  console.error(`Sign in through\n${list}`);
  for (;;) {
    const typed = await question(`Which one (1 to ${found.length}, or its name)? `);
    const chosen = found.find(({ name }) => name === typed) ?? (/^\d{1,3}$/.test(typed) && found[Number(typed) - 1]);
    if (chosen) return chosen.uid;
  }
}

function providerNamed(found: readonly Provider[], wanted: string, organization: string): Provider {
  const provider = found.find(({ name }) => name === wanted);
  if (provider !== undefined) return provider;
  throw new Error(
    `--identity-provider: ${organization} has no ${wanted}, but ${found.map(({ name }) => name).join(", ")}`,
  );
}

async function providersOf(server: string, organization: string): Promise<Provider[]> {
  const { identity_providers: found, error_description: problem } = await jsonOf(
    `${server}/oauth/providers?${new URLSearchParams({ organization }).toString()}`,
  );
  if (!Array.isArray(found))
    throw new Error(`${server} lists no identity providers: ${plain(String(problem ?? "it does not say why"))}`);
  return found.flatMap((one: Partial<Provider> | null) =>
    typeof one?.uid === "string" && typeof one.name === "string" ? [{ uid: one.uid, name: plain(one.name) }] : [],
  );
}
