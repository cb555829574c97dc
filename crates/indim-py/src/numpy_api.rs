//! NumPy arrays as memory: reads them without a copy, and makes new ones. All unsafe code of the bindings is
//! here.
//!
//! The layout of array objects has been stable since NumPy 1.7. Functions come from the table that NumPy
//! exports for extension modules.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::{self, NonNull};

use indim::array::row_major_byte_strides;
use indim::{Array, ArrayType, ArrayView, ArrayViewMut, DType};
use pyo3::exceptions::{PyImportError, PyMemoryError, PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyDict};

/// `PyArrayObject` of NumPy's C interface.
#[repr(C)]
struct RawArray {
    base: ffi::PyObject,
    data: *mut c_char,
    rank: c_int,
    sizes: *const isize,
    strides: *const isize,
    owner: *mut ffi::PyObject,
    element_type: *const RawElementType,
    flags: c_int,
}

/// The beginning of `PyArray_Descr`, which NumPy 1 and 2 have in common.
#[repr(C)]
struct RawElementType {
    base: ffi::PyObject,
    scalar_type: *mut ffi::PyTypeObject,
    kind: c_char,
    character: c_char,
    byte_order: c_char,
    other_flags: c_char,
    number: c_int,
}

// Flags of an array: `NPY_ARRAY_C_CONTIGUOUS`, `NPY_ARRAY_ALIGNED` and `NPY_ARRAY_WRITEABLE`.
const C_CONTIGUOUS: c_int = 0x0001;
const ALIGNED: c_int = 0x0100;
const WRITEABLE: c_int = 0x0400;

/// Size in bytes from which new arrays use indim's memory pool: the first write to a page of fresh memory
/// costs more than an operation on it.
const MIN_POOLED_BYTES: usize = 1 << 20;

/// The owner of pooled memory: the base of the array, in NumPy's terms.
#[pyclass(frozen, module = "indim._indim")]
struct Memory {
    _buffer: Array,
}

type DescrFromType = unsafe extern "C" fn(c_int) -> *mut ffi::PyObject;
type NewFromDescr = unsafe extern "C" fn(
    *mut ffi::PyTypeObject,
    *mut ffi::PyObject,
    c_int,
    *const isize,
    *const isize,
    *mut c_void,
    c_int,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

type SetBaseObject = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject) -> c_int;

/// The entries used of NumPy's C API table.
struct Api {
    array_type: *mut ffi::PyTypeObject,
    descr_from_type: DescrFromType,
    new_from_descr: NewFromDescr,
    set_base_object: SetBaseObject,
    /// NumPy's type numbers of the element types of `ml_dtypes`, if that package is installed. They are read
    /// when they are first needed, because the import of the package takes longer than that of NumPy's table.
    ml_dtypes: PyOnceLock<Vec<(c_int, DType)>>,
}

impl Api {
    /// The type numbers of the element types of `ml_dtypes`.
    fn ml_dtypes(&self, py: Python<'_>) -> &[(c_int, DType)] {
        self.ml_dtypes.get_or_init(py, || ml_dtypes(py).unwrap_or_default())
    }
}

// SAFETY: the table is part of a loaded module, never changes and is never freed.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

static API: PyOnceLock<Api> = PyOnceLock::new();

/// Positions in the table, as in NumPy's `__multiarray_api.h`.
const ARRAY_TYPE: usize = 2;
const DESCR_FROM_TYPE: usize = 45;
const NEW_FROM_DESCR: usize = 94;
const SET_BASE_OBJECT: usize = 282;

/// Initialises lazy statics.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    py.get_type::<Memory>();
    api(py).map(|_| ())
}

fn api(py: Python<'_>) -> PyResult<&'static Api> {
    API.get_or_try_init(py, || load(py))
}

fn load(py: Python<'_>) -> PyResult<Api> {
    let module = py
        .import("numpy._core._multiarray_umath")
        .or_else(|_| py.import("numpy.core._multiarray_umath"))?;
    let capsule = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
    let table = capsule.pointer_checked(None)?.cast::<*mut c_void>();
    // SAFETY: the capsule holds the table, whose entries at these positions have these types.
    let api = unsafe {
        Api {
            array_type: (*table.add(ARRAY_TYPE).as_ptr()).cast(),
            descr_from_type: core::mem::transmute::<*mut c_void, DescrFromType>(
                *table.add(DESCR_FROM_TYPE).as_ptr(),
            ),
            new_from_descr: core::mem::transmute::<*mut c_void, NewFromDescr>(
                *table.add(NEW_FROM_DESCR).as_ptr(),
            ),
            set_base_object: core::mem::transmute::<*mut c_void, SetBaseObject>(
                *table.add(SET_BASE_OBJECT).as_ptr(),
            ),
            ml_dtypes: PyOnceLock::new(),
        }
    };
    let ndarray = py.import("numpy")?.getattr("ndarray")?;
    if api.array_type.cast() != ndarray.as_ptr() {
        return Err(PyImportError::new_err("NumPy's C interface is not the one that indim knows"));
    }
    Ok(api)
}

/// The type numbers of the package's element types; `None` if it is not installed. Old versions have fewer.
fn ml_dtypes(py: Python<'_>) -> Option<Vec<(c_int, DType)>> {
    let package = py.import("ml_dtypes").ok()?;
    let dtype_class = py.import("numpy").ok()?.getattr("dtype").ok()?;
    let number = |dtype: DType| {
        let scalar = package.getattr(dtype.numpy_name()).ok()?;
        dtype_class.call1((scalar,)).ok()?.getattr("num").ok()?.extract().ok()
    };
    let all = DType::ALL.iter().filter(|&&dtype| dtype == DType::Bf16 || dtype.is_storage());
    Some(all.filter_map(|&dtype| Some((number(dtype)?, dtype))).collect())
}

/// The element type of a NumPy type number; of `ml_dtypes` only those that are `known`. The width of C's
/// `long` depends on the system.
fn dtype_of_number(number: c_int, known: &[(c_int, DType)]) -> Option<DType> {
    const LONG_IS_WIDE: bool = size_of::<core::ffi::c_long>() == 8;
    Some(match number {
        0 => DType::Bool,
        1 => DType::I8,
        2 => DType::U8,
        3 => DType::I16,
        4 => DType::U16,
        5 => DType::I32,
        6 => DType::U32,
        7 if LONG_IS_WIDE => DType::I64,
        8 if LONG_IS_WIDE => DType::U64,
        7 => DType::I32,
        8 => DType::U32,
        9 => DType::I64,
        10 => DType::U64,
        11 => DType::F32,
        12 => DType::F64,
        14 => DType::C64,
        15 => DType::C128,
        23 => DType::F16,
        _ => return known.iter().find(|known| known.0 == number).map(|known| known.1),
    })
}

fn number_of_dtype(py: Python<'_>, dtype: DType, api: &Api) -> Option<c_int> {
    // `long` has the smaller numbers. If it has 64 bits, it is NumPy's int64.
    let number = (0..24).find(|&number| dtype_of_number(number, &[]) == Some(dtype));
    let of_package = || api.ml_dtypes(py).iter().find(|known| known.1 == dtype);
    number.or_else(|| of_package().map(|known| known.0))
}

/// The current element type of an array; `None` for a type or byte order that the machine does not compute
/// in, and for one of `ml_dtypes` before its types are read. Runs no Python code.
///
/// # Safety
/// `array` is a NumPy array, and the thread is attached.
unsafe fn current_dtype(py: Python<'_>, array: *mut ffi::PyObject, api: &Api) -> Option<DType> {
    // SAFETY: an array's element type is never null.
    let element_type = unsafe { &*(*array.cast::<RawArray>()).element_type };
    let foreign = if cfg!(target_endian = "little") { b'>' } else { b'<' } as c_char;
    let known = api.ml_dtypes.get(py).map_or(&[][..], Vec::as_slice);
    dtype_of_number(element_type.number, known).filter(|_| element_type.byte_order != foreign)
}

/// A NumPy array, and its element type when the operand was read.
///
/// Python code can change type, sizes, strides and memory of an array in place. So `view` and `view_mut` read
/// all properties at once, and no Python code runs between them and the run.
#[derive(Clone)]
pub(crate) struct NumpyArray<'py> {
    object: Bound<'py, PyAny>,
    dtype: DType,
}

/// Classification of an object for the fast path.
pub(crate) enum ObjectKind<'py> {
    /// An array that needs no conversion.
    Array(NumpyArray<'py>),
    /// An array of an element type or byte order that the machine does not compute in.
    Foreign,
    /// Not a NumPy array.
    Other,
}

impl<'py> NumpyArray<'py> {
    /// Classifies an object without converting it.
    pub(crate) fn classify(object: &Bound<'py, PyAny>) -> PyResult<ObjectKind<'py>> {
        let py = object.py();
        let api = api(py)?;
        // SAFETY: the object and NumPy's array type are valid, and `Bound` proves that the thread is
        // attached.
        let is_array = unsafe {
            ffi::Py_TYPE(object.as_ptr()) == api.array_type
                || ffi::PyObject_TypeCheck(object.as_ptr(), api.array_type) != 0
        };
        if !is_array {
            return Ok(ObjectKind::Other);
        }
        // SAFETY: the check above found an array, and `Bound` proves that the thread is attached.
        let dtype = || unsafe { current_dtype(py, object.as_ptr(), api) };
        Ok(match dtype().or_else(|| (!api.ml_dtypes(py).is_empty()).then(dtype).flatten()) {
            Some(dtype) => ObjectKind::Array(NumpyArray { object: object.clone(), dtype }),
            None => ObjectKind::Foreign,
        })
    }

    /// Reads the element type again.
    ///
    /// # Errors
    /// If it changed to a type that the machine does not compute in.
    pub(crate) fn refresh_dtype(&mut self) -> PyResult<()> {
        let api = api(self.object.py())?;
        // SAFETY: the object of a `NumpyArray` is an array, and `Bound` proves that the thread is
        // attached.
        let dtype = unsafe { current_dtype(self.object.py(), self.object.as_ptr(), api) };
        self.dtype = dtype.ok_or_else(has_changed)?;
        Ok(())
    }

    /// Refuses an array whose element type changed since it was read.
    fn check_dtype(&self) -> PyResult<()> {
        let api = api(self.object.py())?;
        // SAFETY: the object of a `NumpyArray` is an array, and `Bound` proves that the thread is
        // attached.
        match unsafe { current_dtype(self.object.py(), self.object.as_ptr(), api) } {
            Some(dtype) if dtype == self.dtype => Ok(()),
            _ => Err(has_changed()),
        }
    }

    /// A new array with these byte strides; row-major without them.
    ///
    /// The elements are not initialised: the caller writes all of them before it returns the array to Python.
    pub(crate) fn uninitialised(
        py: Python<'py>,
        array_type: &ArrayType,
        strides: Option<&[isize]>,
    ) -> PyResult<Self> {
        let api = api(py)?;
        let dtype = array_type.dtype;
        let number = number_of_dtype(py, dtype, api).ok_or_else(|| {
            PyTypeError::new_err(format!("NumPy has no {dtype}; `pip install ml_dtypes` adds it"))
        })?;
        let rank = array_type.shape.rank();
        let strides = strides.filter(|strides| strides.len() == rank);
        let bytes = array_type.shape.byte_count(dtype.size()).unwrap_or(usize::MAX);
        let mut memory = None;
        if bytes >= MIN_POOLED_BYTES {
            // SAFETY: the caller of this function writes all elements before it hands the array to
            // Python, which reads them only through NumPy, to which any bytes are elements.
            let buffer = unsafe { Array::uninitialised(array_type.clone()) };
            memory = Some(buffer.map_err(|error| PyMemoryError::new_err(error.to_string()))?);
        }
        let data = memory.as_mut().map_or(ptr::null_mut(), |m| m.as_mut_ptr().as_ptr().cast());
        let flags = if memory.is_some() { ALIGNED | WRITEABLE } else { 0 };
        // SAFETY:
        // - every graph checks the byte count of its shapes, so the sizes fit `isize`, which has the
        //   layout of `usize`;
        // - NumPy copies sizes and strides, and takes over the reference to the element type;
        // - the strides are a permutation of dense strides, so the elements fill `data` exactly.
        let array = unsafe {
            let element_type = (api.descr_from_type)(number);
            let array = (api.new_from_descr)(
                api.array_type,
                element_type,
                rank as c_int,
                array_type.shape.sizes().as_ptr().cast(),
                strides.map_or(ptr::null(), <[isize]>::as_ptr),
                data,
                flags,
                ptr::null_mut(),
            );
            Bound::from_owned_ptr_or_err(py, array)?
        };
        if let Some(buffer) = memory {
            let owner = Bound::new(py, Memory { _buffer: buffer })?;
            // SAFETY: NumPy takes over the reference to the owner, and frees it after the array.
            if unsafe { (api.set_base_object)(array.as_ptr(), owner.into_ptr()) } != 0 {
                return Err(PyErr::fetch(py));
            }
        }
        Ok(NumpyArray { object: array, dtype })
    }

    fn raw(&self) -> &RawArray {
        // SAFETY: the object is a NumPy array, which we hold; the fields are read while attached.
        unsafe { &*self.object.as_ptr().cast::<RawArray>() }
    }

    /// The array as a Python object.
    pub(crate) fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// Converts the array to a Python object.
    pub(crate) fn into_object(self) -> Bound<'py, PyAny> {
        self.object
    }

    /// The element type.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Whether the array may be written.
    pub(crate) fn is_writeable(&self) -> bool {
        self.raw().flags & WRITEABLE != 0
    }

    /// The sizes of the axes.
    pub(crate) fn sizes(&self) -> &[usize] {
        let raw = self.raw();
        if raw.rank <= 0 {
            return &[];
        }
        // SAFETY: an array has `rank` sizes, which are not negative.
        unsafe { core::slice::from_raw_parts(raw.sizes.cast(), raw.rank as usize) }
    }

    /// The strides of the axes in bytes.
    pub(crate) fn strides(&self) -> &[isize] {
        let raw = self.raw();
        if raw.rank <= 0 {
            return &[];
        }
        // SAFETY: an array has `rank` strides.
        unsafe { core::slice::from_raw_parts(raw.strides, raw.rank as usize) }
    }

    /// Whether element type and shape are these.
    pub(crate) fn has_type(&self, array_type: &ArrayType) -> bool {
        self.dtype == array_type.dtype && self.sizes() == array_type.shape.sizes()
    }

    /// Element type and shape.
    pub(crate) fn array_type(&self) -> ArrayType {
        ArrayType::new(self.dtype, self.sizes())
    }

    fn first(&self) -> NonNull<u8> {
        NonNull::new(self.raw().data.cast()).unwrap_or(NonNull::dangling())
    }

    /// The `bytes` from the first element on.
    fn memory(&self, bytes: usize) -> NonNull<[u8]> {
        NonNull::slice_from_raw_parts(self.first(), bytes)
    }

    /// Whether two arrays have the same element type, sizes and bytes; `None` if one is not contiguous.
    pub(crate) fn has_contents_of(&self, other: &NumpyArray<'_>) -> Option<bool> {
        if self.dtype != other.dtype || self.sizes() != other.sizes() {
            return Some(false);
        }
        if self.raw().flags & other.raw().flags & C_CONTIGUOUS == 0 {
            return None;
        }
        let bytes = self.sizes().iter().product::<usize>() * self.dtype.size();
        // SAFETY:
        // - the elements of a contiguous array fill this many bytes from the first one on, and NumPy checks
        //   when it makes an array that their count fits `isize`;
        // - we hold both arrays, and the thread is attached, so no Python code writes meanwhile, except in
        //   threads that the user must order, as for `view`.
        Some(unsafe { self.memory(bytes).as_ref() == other.memory(bytes).as_ref() })
    }

    /// A view for reading; an array of the `likely` layout needs no allocation. Bool arrays are viewed
    /// as u8, because NumPy's may contain bytes other than 0 and 1.
    ///
    /// # Errors
    /// If the element type changed since it was read.
    pub(crate) fn view<'a>(&'a self, likely: Option<&'a DenseArray>) -> PyResult<ArrayView<'a>> {
        self.check_dtype()?;
        let dtype = if self.dtype == DType::Bool { DType::U8 } else { self.dtype };
        // SAFETY: NumPy vouches that every element lies in memory that lives as long as the array,
        // which we hold; NumPy refuses to resize an array with another reference. Writers on other
        // threads are the user's to order, as with every NumPy function that releases the GIL.
        Ok(unsafe {
            match likely.filter(|likely| likely.matches(dtype, self)) {
                Some(DenseArray { array_type, strides, bytes }) => {
                    ArrayView::of_dense(array_type, strides, true, self.memory(*bytes))
                }
                None => {
                    let array_type = ArrayType::new(dtype, self.sizes());
                    ArrayView::from_raw(array_type, self.strides().to_vec(), self.first())
                }
            }
        })
    }

    /// A view for writing; an array of the `likely` layout needs no allocation.
    ///
    /// # Errors
    /// If the array is read-only, or its element type changed since it was read.
    pub(crate) fn view_mut<'a>(
        &'a self,
        likely: Option<&'a DenseArray>,
    ) -> PyResult<ArrayViewMut<'a>> {
        self.check_dtype()?;
        if !self.is_writeable() {
            return Err(pyo3::exceptions::PyValueError::new_err("`out` is read-only"));
        }
        // SAFETY: as for `view`, and the array is writeable; `Executable::run_into_with` checks for
        // overlap with inputs and for elements that share memory.
        Ok(unsafe {
            match likely.filter(|likely| likely.matches(self.dtype, self)) {
                Some(DenseArray { array_type, strides, bytes }) => {
                    ArrayViewMut::of_dense(array_type, strides, true, self.memory(*bytes))
                }
                None => {
                    ArrayViewMut::from_raw(self.array_type(), self.strides().to_vec(), self.first())
                }
            }
        })
    }
}

/// The layout of a dense array in row-major order.
pub(crate) struct DenseArray {
    array_type: ArrayType,
    /// In bytes.
    strides: Vec<isize>,
    bytes: usize,
}

impl DenseArray {
    pub(crate) fn new(array_type: &ArrayType) -> DenseArray {
        let (array_type, strides) = (array_type.clone(), row_major_byte_strides(array_type));
        let bytes = array_type.shape.byte_count(array_type.dtype.size()).unwrap_or(0);
        DenseArray { array_type, strides, bytes }
    }

    /// Whether `array`, read as elements of type `dtype`, has this layout.
    fn matches(&self, dtype: DType, array: &NumpyArray<'_>) -> bool {
        self.array_type.dtype == dtype
            && self.array_type.shape.sizes() == array.sizes()
            && self.strides == array.strides()
    }
}

fn has_changed() -> PyErr {
    PyRuntimeError::new_err(
        "the element type of an array was changed while the operands of the call were read",
    )
}

/// The local and global names of the calling Python code; empty if no Python code called.
#[derive(Default)]
pub(crate) struct Caller<'py> {
    pub(crate) local: Option<Bound<'py, PyAny>>,
    pub(crate) global: Option<Bound<'py, PyAny>>,
    frame: Option<Bound<'py, PyAny>>,
}

impl<'py> Caller<'py> {
    /// The innermost caller.
    pub(crate) fn innermost(py: Python<'py>) -> Self {
        // SAFETY: attached; all return borrowed references, or null when no Python code runs.
        unsafe {
            Caller {
                local: Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetLocals()),
                global: Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetGlobals()),
                frame: Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()),
            }
        }
    }

    /// The caller `calls` frames further out.
    pub(crate) fn outer(py: Python<'py>, calls: usize) -> PyResult<Self> {
        let frame = py.import("sys")?.getattr("_getframe")?.call1((calls,))?;
        let (local, global) = (frame.getattr("f_locals")?, frame.getattr("f_globals")?);
        Ok(Caller { local: Some(local), global: Some(global), frame: Some(frame) })
    }

    /// Clears the interpreter's copy of a function's local names, which would keep their arrays alive until
    /// the function returns. The names of a module or a class are not a copy, and stay.
    pub(crate) fn clear_copies(&self) -> PyResult<()> {
        const IS_FUNCTION: c_int = 0x1;
        let (Some(local), Some(frame)) = (&self.local, &self.frame) else { return Ok(()) };
        let Ok(local) = local.cast::<PyDict>() else { return Ok(()) };
        // The frame's reference and ours. With more, Python's `locals()` has handed the copy out.
        // SAFETY: attached, and the object is held.
        if unsafe { ffi::Py_REFCNT(local.as_ptr()) } != 2 {
            return Ok(());
        }
        let flags: c_int = frame.getattr("f_code")?.getattr("co_flags")?.extract()?;
        if flags & IS_FUNCTION != 0 {
            local.clear();
        }
        Ok(())
    }
}
