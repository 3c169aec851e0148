import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";

/** In place of a page about the installation, for people who do not run it. */
export function OperatorsOnly({ title }: { title: string }) {
  return (
    <Page title={title}>
      <Empty title="This page is for operators">
        You need CAP_OPERATIONS_LIST on the first organization, which its owners have. Storage and sessions are open to
        everyone.
      </Empty>
    </Page>
  );
}
