import { escaped, type Page } from "./pages.ts";
import type { Offered } from "./offered-providers.ts";

/** What the page of choice shows. */
export interface Choice {
  /** The path that the choice is sent to, with these parameters and `identity_provider`, or else `organization`. */
  action: string;
  kept: readonly (readonly [string, string])[];
  /** The organization that the person typed; empty at first. */
  organization: string;
  /** Its providers. */
  providers: readonly Offered[];
}

/** Shown when the organization has no providers, or is not there: which of the two is not said. */
const NONE = "No identity provider was found there. Look at the name again.";

/**
 * The page on which a person chooses an identity provider by a link. A form could not be used: what it leads to may end
 * at a program on the person's machine, which the page's form-action does not allow.
 */
export function choiceByLink(choice: Choice): Page {
  const { action, kept, providers } = choice;
  const linkTo = (uid: string): string =>
    `${action}?${new URLSearchParams([...kept.map(([name, value]) => [name, value]), ["identity_provider", uid]]).toString()}`;
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

function page({ action, kept, organization }: Choice, method: "get" | "post", list: string): Page {
  const form = `<form method="${method}" action="${escaped(action)}">
${hidden(kept)}
<p><label>The name of your organization: <input name="organization" value="${escaped(organization)}" required maxlength="1024" autocomplete="organization" autocapitalize="none" spellcheck="false"></label></p>
<button>Go on</button>
</form>`;
  const said =
    list !== ""
      ? `<p>Sign in to <strong>${escaped(organization)}</strong> through</p>\n${list}\n<p>Or through another organization:</p>\n`
      : organization !== ""
        ? `<p><strong>${NONE}</strong></p>\n`
        : "";
  return { status: organization !== "" && list === "" ? 404 : 200, title: "Sign in", body: `${said}${form}` };
}

function hidden(kept: Choice["kept"]): string {
  return kept
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join("\n");
}
