import { ApiError } from "../api/errors.ts";
import styles from "./notes.module.css";

/** What went wrong, with the fields that are wrong; nothing without an error. */
export function ErrorNote({ error }: { error: unknown }) {
  if (error === undefined || error === null) return null;
  const { message, violations, requestId } = partsOf(error);
  return (
    <div role="alert" className={`${styles.note} ${styles.error}`}>
      <p>{message}</p>
      {violations.length > 0 && (
        <ul>
          {violations.map(({ field, description }) => (
            <li key={field + description}>
              <code>{field}</code>: {description}
            </li>
          ))}
        </ul>
      )}
      {requestId !== "" && <p className={styles.small}>Request {requestId}</p>}
    </div>
  );
}

function partsOf(error: unknown): Pick<ApiError, "message" | "violations" | "requestId"> {
  if (error instanceof ApiError) {
    // The list says what is wrong with each field.
    const message = error.violations.length > 0 ? "This cannot be done:" : error.message;
    return { message, violations: error.violations, requestId: error.status >= 500 ? error.requestId : "" };
  }
  return { message: error instanceof Error ? error.message : String(error), violations: [], requestId: "" };
}
