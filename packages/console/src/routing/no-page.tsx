import { Link } from "@tanstack/react-router";
import { Page } from "../ui/page.tsx";

/** For an address that is no page. */
export function Missing() {
  return (
    <Page title="There is no such page">
      <p>
        The address may be mistyped, or the page was moved. <Link to="/">Go to the start</Link>.
      </p>
    </Page>
  );
}
