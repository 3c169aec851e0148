import type { FormEvent, ReactNode } from "react";
import { otherError } from "../../lib/field-errors.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Card, Row, Section, Stack } from "../../ui/page.tsx";
import styles from "./settings-page.module.css";

export interface SettingsFormProps {
  title: string;
  /** What it does, in a sentence. */
  lede?: string;
  /** Why the person may not change anything here. */
  disabledReason: string | undefined;
  isBusy: boolean;
  error: unknown;
  /** The fields that show their errors themselves. */
  fields: readonly string[];
  onSave: (form: FormData) => void;
  /** Beside the button that saves. */
  actions?: ReactNode;
  /** Below the form. */
  after?: ReactNode;
  children: ReactNode;
}

/** One form of the settings, which is saved by itself. */
export function SettingsForm(props: SettingsFormProps) {
  const { title, lede, disabledReason, isBusy, error, fields, onSave, actions, after, children } = props;
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    // The key Enter comes past the button.
    if (disabledReason === undefined && !isBusy) onSave(new FormData(event.currentTarget));
  };
  return (
    <Section title={title}>
      {lede !== undefined && <p className={styles.lede}>{lede}</p>}
      <Card>
        <form onSubmit={submit} aria-label={title}>
          <Stack>
            {children}
            <ErrorNote error={otherError(error, fields)} />
            <Row>
              <Button look="primary" type="submit" isBusy={isBusy} disabledReason={disabledReason}>
                Save {title.toLowerCase()}
              </Button>
              {actions}
            </Row>
          </Stack>
        </form>
        {after}
      </Card>
    </Section>
  );
}
