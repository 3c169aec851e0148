import type { ReactNode } from "react";
import { Badge } from "../../ui/badge.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Row } from "../../ui/page.tsx";
import styles from "./retention-rules.module.css";

export interface PreviewFrameProps<Data> {
  /** Whether what is previewed is what holds already. */
  isSaved: boolean;
  /** Whether other values than those that are shown are looked at. */
  isBusy?: boolean;
  error: Error | null;
  data: Data | undefined;
  children: (data: Data) => ReactNode;
}

/** What settings would do, beside the form that they are typed in. Without data it says why there are none. */
export function PreviewFrame<Data>({ isSaved, isBusy = false, error, data, children }: PreviewFrameProps<Data>) {
  return (
    <section className={styles.preview} aria-label="Preview" aria-busy={isBusy}>
      <Row>
        <h3>Preview</h3>
        {!isSaved && <Badge look="warning">Not saved yet</Badge>}
      </Row>
      <ErrorNote error={error} />
      {error === null && data === undefined && <p role="status">Looking…</p>}
      {error === null && data !== undefined && children(data)}
    </section>
  );
}
