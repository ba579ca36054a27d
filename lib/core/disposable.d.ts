// TypeScript declares these since version 5.2, in its library `esnext.disposable`. Equal declarations merge, so these
// let older versions and smaller libraries compile the declarations of this package.
interface SymbolConstructor {
  readonly dispose: unique symbol
  readonly asyncDispose: unique symbol
}
interface Disposable {
  [Symbol.dispose](): void
}
interface AsyncDisposable {
  [Symbol.asyncDispose](): PromiseLike<void>
}
