import type { Client } from "./clients.ts";
import { escaped, type Page } from "./pages.ts";
import type { Offered } from "./offered-providers.ts";

/** What the page of choice shows. */
export interface Choice {
  /** The path that the choice is sent to, with these parameters and `identity_provider`, or else `organization`. */
  action: string;
  kept: readonly (readonly [string, string])[];
  /** The organization that the person typed; empty at first. */
  organization: string;
  /** Its providers, or with no organization one that the request names. */
  providers: readonly Offered[];
  /** The client that the person is asked about; undefined for one of this server. */
  client?: Client;
  /** Where that client gets its code. */
  redirectUri?: string;
  /** What a link must have, so that it is known to stand on this page. */
  proof?: string;
}

/** Shown when the organization has no providers, or is not there: which of the two is not said. */
const NONE = "No identity provider was found there. Look at the name again.";

/**
 * The page on which a person chooses an identity provider by a link. A form could not be used: what it leads to may end
 * at a program on the person's machine, which the page's form-action does not allow.
 */
export function choiceByLink(choice: Choice): Page {
  const { action, kept, providers, proof } = choice;
  const linkTo = (uid: string): string => {
    const added = [["identity_provider", uid], ...(proof === undefined ? [] : [["consent", proof]])];
    return `${action}?${new URLSearchParams([...kept.map(([name, value]) => [name, value]), ...added]).toString()}`;
  };
  const items = providers.map(({ uid, name }) => `<li><a href="${escaped(linkTo(uid))}">${escaped(name)}</a></li>`);
  return page(choice, "get", items.length === 0 ? "" : `<ul>\n${items.join("\n")}\n</ul>`);
}

/** The same page, where the choice is posted. */
export function choiceByForm(choice: Choice): Page {
  const { action, kept, providers } = choice;
  const buttons = providers.map(
    ({ uid, name }) => `<p><button name="identity_provider" value="${escaped(uid)}">${escaped(name)}</button></p>`,
  );
  return page(
    choice,
    "post",
    buttons.length === 0
      ? ""
      : `<form method="post" action="${escaped(action)}">\n${hidden(kept)}\n${buttons.join("\n")}\n</form>`,
  );
}

function page(choice: Choice, method: "get" | "post", list: string): Page {
  const { action, kept, organization } = choice;
  const form = `<form method="${method}" action="${escaped(action)}">
${hidden(kept)}
<p><label>The name of your organization: <input name="organization" value="${escaped(organization)}" required maxlength="1024" autocomplete="organization" autocapitalize="none" spellcheck="false"></label></p>
<button>Go on</button>
</form>`;
  const said =
    list !== "" && organization === ""
      ? `<p>Sign in through</p>\n${list}\n<p>Or through another organization:</p>\n`
      : list !== ""
        ? `<p>Sign in to <strong>${escaped(organization)}</strong> through</p>\n${list}\n<p>Or through another organization:</p>\n`
        : organization !== ""
          ? `<p><strong>${NONE}</strong></p>\n`
          : "";
  return {
    status: organization !== "" && list === "" ? 404 : 200,
    title: "Sign in",
    body: `${asked(choice)}${said}${form}`,
  };
}

/**
 * Says which program asks: the host that its metadata document comes from, which nobody else can claim, and where it is
 * sent the code.
 */
function asked({ client, redirectUri = "" }: Choice): string {
  if (client?.host === undefined) return "";
  const target = URL.parse(redirectUri);
  const where =
    target?.protocol === "https:"
      ? `the site <strong>${escaped(target.host)}</strong>`
      : target?.protocol === "http:"
        ? "a program on this computer"
        : `a program on this computer that opens <strong>${escaped(target?.protocol ?? "")}</strong>`;
  const name = client.name === "" ? "" : `<dt>It says that it is</dt><dd>${escaped(client.name)}</dd>`;
  return `<dl><dt>A program of</dt><dd><strong>${escaped(client.host)}</strong></dd>${name}<dt>Asks to</dt><dd>work with your images here as you, through MCP</dd><dt>You are sent back to</dt><dd>${where}</dd></dl>
<p>Go on only if you began this yourself, just now, in that program. Whoever sent you a link to this page gets in as you.</p>
`;
}

function hidden(kept: Choice["kept"]): string {
  return kept
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join("\n");
}
