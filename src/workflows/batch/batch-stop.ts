import { CancellationScope } from '@temporalio/workflow';

/** The stop of a batch, asked for by Temporal's cancellation. */
export class BatchStop {
  isAsked = false;
  /** Whether this run was canceled, and so can end as canceled. */
  isCanceled = false;
  #breakable: CancellationScope | undefined;

  /** Temporal cancels this run. */
  cancel(): void {
    this.isCanceled = true;
    this.ask();
  }

  ask(): void {
    this.isAsked = true;
    this.#breakable?.cancel();
  }

  /** Takes a step that could only lead to more rows; undefined when the stop broke it off, or came before it. */
  async unlessAsked<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
    if (this.isAsked) return undefined;
    const scope = new CancellationScope({ cancellable: true });
    this.#breakable = scope;
    try {
      return await scope.run(step);
    } catch (error) {
      if (scope.consideredCancelled) return undefined;
      throw error;
    }
  }
}
