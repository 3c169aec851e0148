import { count } from "../lib/bytes.ts";
import { dismissBulk, stopBulk, useBulk } from "../lib/bulk.ts";
import { Button } from "./button.tsx";
import { Note } from "./note.tsx";
import { Row } from "./page.tsx";

const MAX_SHOWN = 20;

/** How far work on many things has come, and what could not be done; nothing without any. */
export function BulkProgress() {
  const bulk = useBulk();
  if (bulk === undefined) return null;
  const { title, done, total, failed, isRunning } = bulk;
  return (
    <Note look={failed.length > 0 ? "warning" : isRunning ? "plain" : "success"}>
      <div role="status" aria-label="Progress">
        <Row>
          <strong>{title}</strong>
          <progress value={done} max={total} aria-label={title} />
          <span>
            {count(done)} of {count(total)}
            {isRunning ? "; you can leave this page, it goes on" : failed.length === 0 ? ", done" : ""}
          </span>
          {isRunning ? <Button onClick={stopBulk}>Stop</Button> : <Button onClick={dismissBulk}>Dismiss</Button>}
        </Row>
        {failed.length > 0 && (
          <>
            <p>{count(failed.length)} could not be done:</p>
            <ul>
              {failed.slice(0, MAX_SHOWN).map(({ name, reason }) => (
                <li key={name}>
                  <code>{name}</code>: {reason}
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Note>
  );
}
