import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";

export interface ConfirmProps {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  description: string;
  /** The verb on the button, such as Delete. */
  action: string;
  /** How the button looks; as something that cannot be taken back by default. */
  look?: "danger" | "primary";
  /** Why it cannot be done yet. */
  disabledReason?: string | undefined;
  /** Does it; the dialog closes when it has succeeded, and shows the error otherwise. */
  onConfirm: () => Promise<unknown>;
  children?: ReactNode;
}

/** Asks before something that cannot be taken back, or that somebody should know. */
export function Confirm(props: ConfirmProps) {
  const { isOpen, onClose, title, description, action, look = "danger", disabledReason, onConfirm, children } = props;
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const confirm = async (): Promise<void> => {
    setState({ isBusy: true });
    try {
      await onConfirm();
      setState({ isBusy: false });
      onClose();
    } catch (error) {
      setState({ isBusy: false, error });
    }
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={look === "danger" ? "solidDanger" : look}
            disabledReason={disabledReason}
            isBusy={state.isBusy}
            onClick={() => void confirm()}
          >
            {action}
          </Button>
        </>
      }
    >
      {children}
      <ErrorNote error={state.error} />
    </Dialog>
  );
}
